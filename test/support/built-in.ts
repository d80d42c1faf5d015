/**
 * Conversations of the built-in agent for tests: a scripted model, tools with the effect that a test gives them, a real
 * log.
 */
import { randomUUID } from 'node:crypto'
import { BuiltInAgent } from '../../src/parts/builtin/agent.ts'
import { noSkills } from '../../src/agents/skills.ts'
import { openSkills } from '../../src/parts/skills/open.ts'
import { actionOf, type Tool, type ToolRun } from '../../src/agents/tool.ts'
import type { Clock } from '../../src/base/stamp.ts'
import type { AgentHost } from '../../src/conversation/agent/host.ts'
import type { Conversation } from '../../src/conversation/conversation.ts'
import { isConversationAgent, toConversationAgent, type Agent } from '../../src/schema/generated/conversations.ts'
import { toAction } from '../../src/schema/generated/actions.ts'
import { toObservation, type Observation } from '../../src/schema/generated/observations.ts'
import type { Created } from '../../src/conversation/log/origins.ts'
import { toJsonObject, type JsonObject } from '../../src/base/json.ts'
import { HookSession } from '../../src/parts/hooks/session.ts'
import { readHookConfig } from '../../src/conversation/agent/hook-config.ts'
import { startChild } from '../../src/process/child.ts'
import type { CallCipher } from '../../src/parts/builtin/recording/original-calls.ts'
import { testCipher } from './cipher.ts'
import { makeConversation, openTestConversation, withWorld, type World } from './conversation.ts'
import type { ModelClient } from '../../src/parts/builtin/llm/model.ts'

export interface BuiltIn<Model extends ModelClient> {
  readonly conversation: Conversation
  readonly world: World
  readonly model: Model
  /** The calls that the tools got, in the order in which they began. */
  readonly done: readonly string[]
  /** The tools that the agent has; a test may take one away. */
  readonly tools: Tool[]
  /** Closes the conversation and opens it again, as after a restart. */
  reopen(): Promise<Conversation>
}

export interface BuiltInOptions<Model extends ModelClient> {
  readonly model: Model
  /** The models that the conversation can switch to, by name. */
  readonly models?: Readonly<Record<string, ModelClient>>
  readonly changes?: Partial<Created>
  /** Runs the tool `terminal`. Default: it returns the command. */
  readonly terminal?: (command: string, call: ToolRun) => Promise<string>
  readonly settings?: Partial<Agent>
  /** Of each agent that is made. */
  readonly ciphers?: readonly CallCipher[]
  /** As in a request; they run in the folder of the world. */
  readonly hooks?: JsonObject
}

/** In the markers of processes of hooks. */
export const hookInstance = `test${randomUUID().slice(0, 8)}`

export async function withBuiltIn<Model extends ModelClient>(
  options: BuiltInOptions<Model>,
  body: (parts: BuiltIn<Model>) => Promise<void>,
): Promise<void> {
  await withWorld(async (outer) => {
    const done: string[] = []
    const settings = agentSettings(options)
    const tools = testTools(done, options.terminal ?? (async (command) => `ran ${command}`))
    const toolSet = { tools, missing: [], close: async () => void done.push('closed') }
    const clock: Clock = () => outer.time.now
    let agents = 0
    const create = (host: AgentHost): BuiltInAgent => {
      return new BuiltInAgent({
        settings: openedSettings(host),
        host,
        cipher: options.ciphers?.[agents++] ?? testCipher(),
        createModel: ({ model }) => options.models?.[model] ?? options.model,
        createTools: async () => toolSet,
        openPatch: async () => ({ isEmpty: async () => true }),
        loadSkills: async () => {
          return (settings.agent_context === null
            ? noSkills
            : openSkills(settings.agent_context, host.workingDir, {
              homeDir: undefined, privateDirs: [], installedSkills: async () => [], log: outer.deps.diagnostics,
            }))
        },
        hooks: new HookSession({
          host, env: { PATH: process.env['PATH'] ?? '' }, instance: hookInstance, createId: randomUUID,
          startProcess: startChild, log: outer.deps.diagnostics,
        }),
        clock,
        log: outer.deps.diagnostics,
        platform: 'linux',
      })
    }
    const deps = {
      ...outer.deps, agentKind: async (stored: JsonObject) => ({ ...await outer.deps.agentKind(stored), create }),
    }
    const world = { ...outer, deps }
    const hooks = options.hooks === undefined
      ? {}
      : { hook_config: toJsonObject(readHookConfig(options.hooks)), working_dir: outer.folder }
    const directory = await makeConversation(world, { agent: toJsonObject(settings), ...hooks, ...options.changes })
    let conversation = await openTestConversation(world, directory)
    const reopen = async (): Promise<Conversation> => {
      await conversation.close()
      conversation = await openTestConversation(world, directory)
      return conversation
    }
    try {
      await body({ conversation, world, model: options.model, done, tools, reopen })
    } finally {
      await conversation.close()
    }
  })
}

/** Nothing is sealed here. */
function openedSettings(host: { settings(): unknown }): () => Agent {
  let last: { readonly stored: unknown; readonly agent: Agent } | undefined
  return () => {
    const stored = host.settings()
    if (last === undefined || last.stored !== stored) last = { stored, agent: builtIn(stored) }
    return last.agent
  }
}

function builtIn(stored: unknown): Agent {
  const agent = isConversationAgent(stored) ? toConversationAgent(stored) : undefined
  if (agent?.kind !== 'Agent') throw new Error('expected the built-in agent')
  return agent
}

function agentSettings({ settings = {} }: { readonly settings?: Partial<Agent> }): Agent {
  return { ...builtIn({ kind: 'Agent', llm: { model: 'test/script', usage_id: 'agent' }, tools: [] }), ...settings }
}

function testTools(done: string[], terminal: (command: string, call: ToolRun) => Promise<string>): Tool[] {
  return [
    testTool('terminal', 'TerminalTool', 'command', async (action, call) => {
      const { command } = actionOf(action, 'TerminalAction')
      done.push(command)
      return toObservation({ kind: 'TerminalObservation', command, content: [{ text: await terminal(command, call) }] })
    }),
    testTool('think', 'ThinkTool', 'thought', async (action) => {
      done.push(actionOf(action, 'ThinkAction').thought)
      return toObservation({ kind: 'ThinkObservation', content: [{ text: 'noted' }] })
    }),
    testTool('finish', 'FinishTool', 'message', async (action) => {
      return toObservation({ kind: 'FinishObservation', content: [{ text: actionOf(action, 'FinishAction').message }] })
    }),
  ]
}

type ToolKind = 'TerminalTool' | 'ThinkTool' | 'FinishTool'
const actionKinds = { TerminalTool: 'TerminalAction', ThinkTool: 'ThinkAction', FinishTool: 'FinishAction' } as const

function testTool(
  name: string, kind: ToolKind, member: string, run: (...given: Parameters<Tool['run']>) => Promise<Observation>,
): Tool {
  const description = `The tool ${name}`
  const type = actionKinds[kind]
  return {
    name,
    description,
    parameters: { type: 'object', properties: { [member]: { type: 'string' } }, required: [member] },
    definition: { kind, description, action_type: type, title: name },
    isReadOnly: kind !== 'TerminalTool',
    read(args) {
      const text = args[member]
      if (typeof text !== 'string') return { ok: false, problem: `${member}: expected a string` }
      return { ok: true, action: actionFrom(type, text) }
    },
    run,
  }
}

function actionFrom(kind: (typeof actionKinds)[ToolKind], text: string): ReturnType<typeof toAction> {
  switch (kind) {
    case 'TerminalAction':
      return toAction({ kind, command: text })
    case 'ThinkAction':
      return toAction({ kind, thought: text })
    case 'FinishAction':
      return toAction({ kind, message: text })
  }
}
