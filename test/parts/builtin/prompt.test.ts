/** The texts for a model before the first message, and the effect of the settings on them. */
import { readFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { toConversationAgent, type Agent } from '../../../src/schema/generated/conversations.ts'
import { promptSnapshots, toldBy } from '../../support/prompt-snapshots.ts'
import { suite } from '../../support/suite.ts'
import { snapshotPath } from '../../support/tool-snapshots.ts'

const test = suite('agents/builtin/prompt')

test('what a model is told is what the snapshots say', async () => {
  for (const [name, snapshot] of await promptSnapshots()) {
    assert.is(
      snapshot,
      await readFile(snapshotPath(name, 'builtin'), 'utf8'),
      `${name}: if the change is meant, run scripts/tool-snapshots`,
    )
  }
})

function contextOf(context: object): Partial<Agent> {
  const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'gpt-5.5' }, agent_context: context })
  return agent.kind === 'Agent' ? { agent_context: agent.agent_context } : {}
}

test('a suffix of the settings ends the system prompt', async () => {
  const { prompt } = await toldBy({})
  assert.is((await toldBy(contextOf({ system_message_suffix: 'Speak French.' }))).prompt, `${prompt}\n\nSpeak French.`)
  assert.is((await toldBy(contextOf({ system_message_suffix: ' ' }))).prompt, prompt)
})

test('a prompt of the settings is taken word for word, and the suffix behind it', async () => {
  const { prompt } = await toldBy({
    system_prompt: 'You are a {{ cli_mode }} poet.', system_prompt_kwargs: { cli_mode: 'quiet' },
  })
  assert.is(prompt, 'You are a {{ cli_mode }} poet.')
  const both = await toldBy({ system_prompt: 'A poet.', ...contextOf({ system_message_suffix: 'Be brief.' }) })
  assert.is(both.prompt, 'A poet.\n\nBe brief.')
})

test('the part on security is left out for an empty name of its file, and for null in a request', async () => {
  const { prompt } = await toldBy({})
  assert.match(prompt, '# Security')
  assert.not.match((await toldBy({ security_policy_filename: '' })).prompt, '# Security')
  const nameFor = (given: string | null | undefined): unknown => {
    const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'gpt-5.5' }, security_policy_filename: given })
    return agent.kind === 'Agent' && agent.security_policy_filename
  }
  assert.equal([nameFor(null), nameFor(''), nameFor(undefined), nameFor('mine.j2')], [
    '', '', 'security_policy.j2', 'mine.j2',
  ])
})

test('the time of the settings stands for the date, as it is', async () => {
  assert.match((await toldBy({})).context, /^Date: 2026-11-21$/m)
  const { context } = await toldBy(contextOf({ current_datetime: '2030-01-01T10:00:00+02:00' }))
  assert.match(context, /^Date: 2030-01-01T10:00:00\+02:00$/m)
})

test('a secret is told by its name and its description, on one line, and a known value is hidden', async () => {
  const named = [
    { name: 'A', description: 'one\n- B: two' },
    { name: 'C', description: ' ' },
    { name: 'D', description: 'is SECRET-VALUE-1' },
  ]
  const { context } = await toldBy({}, named)
  assert.equal(context.split('\n').filter((line) => line.startsWith('- ')), [
    '- A: one - B: two', '- C', '- D: is <secret-hidden>',
  ])
  assert.match(
    (await toldBy(contextOf({ system_message_suffix: 'Use SECRET-VALUE-1.' }))).prompt, /Use <secret-hidden>\.$/,
  )
})

test.run()
