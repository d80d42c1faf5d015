/** Creates the agent of a conversation: an external agent over ACP, or the built-in agent of an optional module. */
import { randomUUID } from 'node:crypto'
import { createAcpAgent } from './agents/acp/agent.ts'
import type { AgentSlots } from './agents/acp/session/slots.ts'
import { systemTimers } from './agents/acp/calls/timers.ts'
import { errorOf } from './base/errors.ts'
import type { JsonObject } from './base/json.ts'
import { withFields, type Log } from './base/log.ts'
import type { AgentHost } from './conversation/agent/host.ts'
import type { AgentKind, TitleByProfile } from './conversation/agent/agent.ts'
import type { Core } from './capabilities.ts'
import { startChildBelow, type Child, type ChildOptions } from './process/child.ts'
import type { ConversationAgent } from './schema/generated/conversations.ts'
import { customServer } from './settings/providers.ts'
import type { Provider } from './settings/provider.ts'
import { version } from './version.ts'

export interface AgentMakerOptions {
  readonly core: Core
  readonly providers: readonly Provider[]
  readonly slots: AgentSlots
  /** Maps commands to paths of agent programs: `Part.programs` of all modules that may be loaded. */
  readonly programs: Readonly<Record<string, string>>
  /** Gets an external agent's program, and returns the program to start. Undefined: no program is replaced. */
  readonly changeProgram: ChangeProgram | undefined
}

/** Returns the program to start in place of the given program. */
export type ChangeProgram = (program: AgentProgram) => AgentProgram

export interface AgentProgram {
  /** A path, or a name that is looked up in the PATH of `env`. */
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The program's environment with the agent's secrets. The server adds the variable `AGENT_SERVER_CHILD` later. */
  readonly env: Readonly<Record<string, string>>
}

export interface AgentMaker {
  /** Returns the kind of agent for stored agent settings. For the kind `Agent`, loads the built-in agent's module. */
  kindOf(stored: JsonObject): Promise<AgentKind>
  readonly titleByProfile: TitleByProfile
}

export function createAgentMaker(options: AgentMakerOptions): AgentMaker {
  const { use, offers } = options.core
  return {
    kindOf: (stored) => (stored['kind'] === 'Agent' ? builtInKind(options) : Promise.resolve(acpKind(options))),
    async titleByProfile(request) {
      return offers('builtInAgent') ? (await use('builtInAgent')).titleByProfile(request) : undefined
    },
  }
}

/** Returns the agent kind `Agent`. Its `create` throws if the built-in agent's module cannot be used. */
async function builtInKind({ core }: AgentMakerOptions): Promise<AgentKind> {
  const agents = await core.use('builtInAgent').catch(errorOf)
  return {
    readsMessages: true,
    takesModel: true,
    waitsBetweenRuns: true,
    takesAdditions: true,
    create(host) {
      if (agents instanceof Error) throw agents
      return agents.create(host, logOf(core, host))
    },
  }
}

function acpKind(options: AgentMakerOptions): AgentKind {
  const { vault } = options.core
  return {
    readsMessages: false,
    takesModel: false,
    waitsBetweenRuns: false,
    takesAdditions: false,
    create(host) {
      const agent = vault.openAgent(host.conversationId, host.settings())
      if (agent.kind !== 'ACPAgent') throw new TypeError('Expected the settings of an external agent')
      return createAcpAgent(acpOptions(agent, host, options))
    },
  }
}

function logOf({ log }: Core, host: AgentHost): Log {
  return withFields(log, { conversation_id: host.conversationId })
}

type AcpSettings = Extract<ConversationAgent, { kind: 'ACPAgent' }>

function acpOptions(
  agent: AcpSettings, host: AgentHost, { core, providers, slots, programs, changeProgram }: AgentMakerOptions,
): Parameters<typeof createAcpAgent>[0] {
  const { config, environment, instanceId, runtimeDir, secretFolder, cgroupParent, clock, use, offers } = core
  return {
    settings: { ...agent, acp_server: agent.acp_server ?? customServer },
    host,
    providers,
    programs,
    mcpTokens: { tokenFor: async (...request) => (await use('mcpTokens')).tokenFor(...request) },
    async installedCommand(name) {
      return offers('installedAgents') ? (await use('installedAgents')).commandOf(name) : undefined
    },
    allowNpx: config.allowNpx,
    environment,
    passEnvironment: config.passEnv,
    runtimeDir,
    makeSecretDir: () => secretFolder.make(),
    platform: process.platform,
    clock,
    log: logOf(core, host),
    slots,
    instanceId,
    createId: randomUUID,
    startProcess: startChanged(changeProgram, startChildBelow(cgroupParent)),
    timers: systemTimers,
    version,
    lineLimitBytes: config.agentLineLimitBytes,
    valueLimit: config.jsonValueLimit,
    transcriptLimitBytes: config.transcriptLimitBytes,
  }
}

type Start = (options: Pick<ChildOptions, 'command' | 'args' | 'cwd' | 'env' | 'marker'>) => Promise<Child>

/** Returns a function that changes a program with `change`, then starts it. Without `change`, returns `start`. */
function startChanged(change: ChangeProgram | undefined, start: Start): Start {
  if (change === undefined) return start
  return async ({ command, args = [], cwd, env, marker }) => start({ ...change({ command, args, cwd, env }), marker })
}
