/**
 * The texts that the built-in agent sends to a model, word for word, as files under `test/parts/builtin/snapshots`, so
 * that a change is seen in review: the system prompt, the context of a conversation, the usual tools with the members
 * that every tool gets, the texts of skills, and the question for a title. `scripts/tool-snapshots` writes them, a test
 * compares them.
 */
import { testCipher } from './cipher.ts'
import { BuiltInAgent } from '../../src/parts/builtin/agent.ts'
import { HookSession } from '../../src/parts/hooks/session.ts'
import { modelTool } from '../../src/parts/builtin/calls/tool-calls.ts'
import type { ModelClient, ModelRequest } from '../../src/parts/builtin/llm/model.ts'
import { noSkills } from '../../src/agents/skills.ts'
import { memoryPath } from '../../src/parts/skills/load.ts'
import { openSkills } from '../../src/parts/skills/open.ts'
import { skillOfClient } from '../../src/parts/skills/skill.ts'
import { describeCalled, describeContext } from '../../src/parts/skills/telling.ts'
import { matchSkills } from '../../src/parts/skills/triggers.ts'
import { createToolSet } from '../../src/parts/builtin/tools/registry.ts'
import { createTerminalTool } from '../../src/parts/builtin/tools/terminal.ts'
import type { ToolSet } from '../../src/agents/tool.ts'
import { createMasker } from '../../src/base/masking.ts'
import type { Log } from '../../src/base/log.ts'
import type { AgentHost, NamedSecret } from '../../src/conversation/agent/host.ts'
import { startChild } from '../../src/process/child.ts'
import { toConversationAgent, type Agent } from '../../src/schema/generated/conversations.ts'
import { memoryHost } from '../agents/acp/memory-host.ts'
import { scriptModel } from './script-model.ts'

export interface Told {
  readonly prompt: string
  readonly context: string
}

const secrets: readonly NamedSecret[] = [
  { name: 'DEPLOY_TOKEN', description: 'for the staging server' }, { name: 'NPM_TOKEN', description: null },
]

/** Name of the snapshot -> text. */
export async function promptSnapshots(): Promise<ReadonlyMap<string, string>> {
  const { prompt, context } = await toldBy({ tools: [...usual, { name: 'browser_tool_set', params: {} }] }, secrets)
  const { tools } = await toolsOf(settingsOf({}), new AbortController().signal)
  return new Map([
    ['system-prompt', `${prompt}\n`],
    ['dynamic-context', `${context}\n`],
    ['tools', `${tools.map((tool) => JSON.stringify(modelTool(tool), undefined, 2)).join('\n\n')}\n`],
    ['title', `${await titleRequest()}\n`],
    ['skills', `${skillsTold()}\n`],
  ])
}

/** Returns the texts that an agent with these settings sends before the first message. */
export async function toldBy(changes: Partial<Agent>, named: readonly NamedSecret[] = []): Promise<Told> {
  const settings = settingsOf(changes)
  const host = { ...memoryHost('/workspace/project'), secretNames: async () => named }
  const agent = agentOf(settings, host, scriptModel([]))
  try {
    const draft = await agent.introduction()
    if (draft.kind !== 'SystemPromptEvent') throw new Error('expected a SystemPromptEvent')
    return { prompt: draft.system_prompt.text, context: draft.dynamic_context?.text ?? '' }
  } finally {
    await agent.close()
  }
}

function agentOf(settings: Agent, host: AgentHost, model: ModelClient): BuiltInAgent {
  return new BuiltInAgent({
    settings: () => settings,
    host,
    cipher: testCipher(),
    createModel: () => model,
    createTools: (_skills, signal) => toolsOf(settings, signal),
    openPatch: async () => ({ isEmpty: async () => true }),
    loadSkills: async () => {
      return (settings.agent_context === null
        ? noSkills
        : openSkills(settings.agent_context, host.workingDir, {
          homeDir: undefined, privateDirs: [], installedSkills: async () => [], log: silent,
        }))
    },
    hooks: new HookSession({
      host, env: {}, instance: 'none', createId: () => 'id', startProcess: startChild, log: silent,
    }),
    clock: () => Date.parse('2026-11-21T12:00:00Z'),
    log: silent,
    platform: 'linux',
  })
}

const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

const usual = ['terminal', 'file_editor', 'task_tracker'].map((name) => ({ name, params: {} }))

function settingsOf(changes: Partial<Agent>): Agent {
  const agent = toConversationAgent({ kind: 'Agent', llm: { model: 'test/script' }, tools: usual })
  if (agent.kind !== 'Agent') throw new Error('expected the built-in agent')
  return { ...agent, ...changes }
}

/** The tools of a conversation in a folder that is not there: none of them is run. */
function toolsOf(settings: Agent, signal: AbortSignal): Promise<ToolSet> {
  const folders = { workingDir: '/workspace/project', observationsDir: '/observations' }
  const terminal = {
    ...folders,
    kind: 'pipes' as const,
    makeSecretDir: async () => '/runtime',
    env: {},
    instance: 'none',
    cgroupParent: undefined,
    createId: () => 'id',
    createMaskingStream: () => createMasker().stream(),
    onError: () => undefined,
    secretsFor: async () => ({}),
    hostname: 'host',
  }
  return createToolSet({
    ...folders, cipher: testCipher(), mask: (text) => text, privateDirs: [], settings,
    makers: { terminal: () => createTerminalTool(terminal) }, signal,
  })
}

/**
 * Returns the texts of instructions, Agent Skills and memory, and the text that goes with a message that calls for a
 * skill.
 */
function skillsTold(): string {
  const skills = [
    { name: 'agents', content: 'Run the tests with `npm test`.', source: '/workspace/project/AGENTS.md' },
    {
      name: 'commits', content: 'One change in a commit.', source: '/workspace/project/.agents/skills/commits.md',
      triggers: ['git'],
    },
    {
      name: 'pdf', content: '.', description: 'Reads PDF files.', source: '/home/user/.agents/skills/pdf/SKILL.md',
      is_agentskills_format: true,
    },
  ].map(skillOfClient)
  const called = describeCalled(matchSkills('Use Git', skills)).map(({ text }) => text)
  return [...describeContext(skills, { path: memoryPath, text: 'The build needs Java.' }), '---', ...called].join(
    '\n\n',
  )
}

async function titleRequest(): Promise<string> {
  const model = scriptModel([])
  const agent = agentOf(settingsOf({}), memoryHost('/workspace/project'), model)
  await agent.makeTitle('Fix the build', new AbortController().signal)
  await agent.close()
  return model.requests.map(wordsOf).join('\n')
}

function wordsOf({ messages }: ModelRequest): string {
  return messages.map(({ message }) => {
    return `${message.role}:\n${message.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')}`
  }).join('\n\n')
}
