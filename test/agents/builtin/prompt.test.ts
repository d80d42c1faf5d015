/** The system prompt and the context of a conversation. Their words are in the snapshots of the tools. */
import * as assert from 'uvu/assert'
import { dynamicContext, systemPrompt } from '../../../src/agents/builtin/prompt.ts'
import { toConversationAgent, type Agent } from '../../../src/schema/generated/conversations.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/prompt')

function agentWith(more: JsonObject): Agent {
  const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'test/model' }, tools: [], ...more })
  if (agent.kind !== 'Agent') throw new Error('expected the built-in agent')
  return agent
}

function contextOf(more: Partial<Parameters<typeof dynamicContext>[0]> = {}): string[] {
  const plain = { agent: agentWith({}), date: '2026-11-21', workingDir: '/w', secrets: [], missingTools: [] }
  return dynamicContext({ ...plain, ...more }).split('\n')
}

test('the security policy is part of the prompt until it is taken out', () => {
  assert.match(systemPrompt(agentWith({})), '# Security')
  for (const name of [null, '']) assert.not.match(systemPrompt(agentWith({ security_policy_filename: name })), '# Security')
})

test('a prompt in the settings takes the place of ours, and a suffix follows it', () => {
  const prompt = systemPrompt(agentWith({
    system_prompt: 'Be brief.', security_policy_filename: null, agent_context: { system_message_suffix: 'Speak French.' },
  }))
  assert.is(prompt, 'Be brief.\n\nSpeak French.')
})

test('the context tells the day, the folder, and what there is and is not', () => {
  assert.equal(contextOf(), ['Date: 2026-11-21', 'Working directory: /w'])
  const secrets = [{ name: 'A', description: null }, { name: 'B', description: ' ' }, { name: 'C', description: 'for c' }]
  assert.equal(contextOf({ secrets, missingTools: ['browser', 'task'] }).slice(2), [
    'Tools that were asked for and are not available here: browser, task',
    'Secrets, each in an environment variable for a command that names it:', '- A', '- B', '- C: for c',
  ])
  assert.is(contextOf({ agent: agentWith({ agent_context: { current_datetime: 'yesterday' } }) })[0], 'Date: yesterday')
})

test.run()
