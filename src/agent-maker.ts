/**
 * Creates the agent of a conversation: an external agent over ACP, or the built-in agent of the part that offers it.
 *
 * No program is started here.
 */
import { randomUUID } from 'node:crypto'
import { createAcpAgent } from './agents/acp/agent.ts'
import { AgentSlots } from './agents/acp/slots.ts'
import { systemTimers } from './agents/acp/timers.ts'
import { AppError } from './base/errors.ts'
import type { JsonObject } from './base/json.ts'
import { withFields, type Log } from './base/log.ts'
import type { TitleByProfile } from './conversation/agent-requests.ts'
import type { Agent, AgentHost } from './conversation/agent.ts'
import type { Core } from './capabilities.ts'
import type { BuiltInAgents } from './offers.ts'
import { startChild } from './process/child.ts'
import type { ConversationAgent } from './schema/generated/conversations.ts'
import { customServer } from './settings/providers.ts'
import type { Provider } from './settings/provider.ts'
import { version } from './version.ts'

export interface AgentMakerOptions {
  readonly core: Core
  readonly providers: readonly Provider[]
  /** Agent programs that come with the server, by the first word of a command. */
  readonly programs: Readonly<Record<string, string>>
}

export interface AgentMaker {
  /** Loads the part that an agent needs. A missing part is refused by `create`, not here. */
  prepare(stored: JsonObject): Promise<void>
  /** Creates the agent of a conversation from its sealed settings. @throws AppError `part_missing` */
  create(stored: JsonObject, host: AgentHost): Agent
  readonly titleByProfile: TitleByProfile
}

export function createAgentMaker(options: AgentMakerOptions): AgentMaker {
  const { config, vault, log, use, offers } = options.core
  const slots = new AgentSlots({ limit: config.agentLimit, idleMs: config.agentIdleMs })
  let builtIn: BuiltInAgents | AppError | undefined
  return {
    async prepare(stored) {
      if (stored['kind'] === 'Agent') builtIn = await use('builtInAgent').catch(appErrorOf)
    },
    create(stored, host) {
      const agent = vault.openAgent(host.conversationId, stored)
      const ownLog = withFields(log, { conversation_id: host.conversationId })
      if (agent.kind === 'ACPAgent') return createAcpAgent(acpOptions(agent, host, { ...options, log: ownLog }, slots))
      if (builtIn instanceof AppError) throw builtIn
      if (builtIn === undefined) throw new TypeError('The built-in agent was not loaded')
      return builtIn.create(host, ownLog)
    },
    async titleByProfile(request) {
      return offers('builtInAgent') ? (await use('builtInAgent')).titleByProfile(request) : undefined
    },
  }
}

function appErrorOf(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  throw thrown
}

type AcpSettings = Extract<ConversationAgent, { kind: 'ACPAgent' }>

function acpOptions(
  agent: AcpSettings, host: AgentHost, { core, providers, programs, log }: AgentMakerOptions & { readonly log: Log },
  slots: AgentSlots,
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
    log,
    slots,
    instanceId,
    createId: randomUUID,
    startProcess: (options) => startChild({ ...options, cgroupParent }),
    timers: systemTimers,
    version,
    lineLimitBytes: config.agentLineLimitBytes,
    valueLimit: config.jsonValueLimit,
    transcriptLimitBytes: config.transcriptLimitBytes,
  }
}
