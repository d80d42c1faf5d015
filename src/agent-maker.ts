/**
 * The agents of a server: which one drives a conversation, and what all of them share.
 *
 * The part of the composition that knows what agents need; `app` knows the folders and the order of the start. Nothing is
 * started here.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { isAbsolute } from 'node:path'
import { createAcpAgent } from './agents/acp/agent.ts'
import { AgentSlots } from './agents/acp/slots.ts'
import { systemTimers } from './agents/acp/timers.ts'
import { createBuiltInAgent, createModelWith, type BuiltInAgents, type CreateModel } from './parts/builtin/create.ts'
import { makeTitle } from './parts/builtin/title.ts'
import type { InstalledAgents } from './parts/install/installed-agents.ts'
import type { McpHost } from './parts/mcp/connect.ts'
import type { Logins } from './parts/mcp/oauth/logins.ts'
import { AppError } from './base/errors.ts'
import type { JsonObject } from './base/json.ts'
import { withFields, type Log } from './base/log.ts'
import type { Masker } from './base/masking.ts'
import type { Clock } from './base/stamp.ts'
import { BrowserPlaces } from './parts/browser/places.ts'
import type { Config } from './config.ts'
import type { AgentVault } from './conversation/agent-vault.ts'
import type { Agent, AgentHost } from './conversation/agent.ts'
import type { TitleByProfile } from './conversation/agent-requests.ts'
import { startChild } from './process/child.ts'
import { buildEnvironment, type Environment } from './process/environment.ts'
import { detectTerminalKind, type TerminalKind } from './process/pty.ts'
import type { SecretFolder } from './process/secret-folder.ts'
import type { Agent as BuiltInSettings, ConversationAgent } from './schema/generated/conversations.ts'
import type { LLM } from './schema/generated/llm.ts'
import type { Cipher } from './settings/cipher.ts'
import { customServer } from './settings/providers.ts'
import type { Provider } from './settings/provider.ts'
import { version } from './version.ts'

export interface AgentMakerOptions {
  readonly config: Config
  readonly environment: Environment
  readonly log: Log
  readonly masker: Masker
  readonly clock: Clock
  /** The data folder: no tool reads or writes there, nor where secrets are in plain. */
  readonly dataDir: string
  /** Its id, for the markers of processes. */
  readonly instanceId: string
  readonly runtimeDir: string
  readonly secretFolder: SecretFolder
  readonly cgroupParent: string | undefined
  readonly providers: readonly Provider[]
  readonly installed: InstalledAgents
  readonly vault: AgentVault
  readonly logins: Logins
  /** The model of a stored profile. @throws AppError */
  readonly loadProfile: (name: string) => Promise<LLM>
  readonly cipher: Cipher
}

export interface AgentMaker {
  readonly createModel: CreateModel
  /** Whatever MCP servers are started with. */
  readonly mcp: McpHost
  /** The agent of a conversation, from its sealed settings. */
  create(stored: JsonObject, host: AgentHost): Agent
  readonly titleByProfile: TitleByProfile
}

export function createAgentMaker(options: AgentMakerOptions): AgentMaker {
  const { config, vault } = options
  const slots = new AgentSlots({ limit: config.agentLimit, idleMs: config.agentIdleMs })
  const mcp = mcpHost(options)
  const createModel = createModelWith({ limitBytes: config.modelAnswerLimitBytes, valueLimit: config.jsonValueLimit })
  const builtIn = shareBuiltIn(options, mcp, createModel)
  return {
    createModel,
    mcp,
    create(stored, host) {
      const open = (sealed: JsonObject): ConversationAgent => vault.openAgent(host.conversationId, sealed)
      const agent = open(stored)
      const log = withFields(options.log, { conversation_id: host.conversationId })
      if (agent.kind === 'Agent') return createBuiltInAgent(host, (sealed) => builtInSettings(open(sealed)), { ...builtIn, log })
      return createAcpAgent(acpOptions(agent, host, { ...options, log }, slots))
    },
    titleByProfile: (request) => titleByProfile(request, createModel, options),
  }
}

/** A profile that is not there, or cannot be used, is no failure: somebody else makes the title. */
async function titleByProfile(
  { profile, text, signal }: Parameters<TitleByProfile>[0],
  createModel: CreateModel,
  { loadProfile, masker, log }: AgentMakerOptions,
): ReturnType<TitleByProfile> {
  try {
    const llm = await loadProfile(profile)
    return await makeTitle({ llm, text, signal, createModel, mask: (words) => masker.mask(words) })
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    log.warn('The profile that was to make a title cannot be used', { profile, error: thrown })
    return undefined
  }
}

function shareBuiltIn(options: AgentMakerOptions, mcp: McpHost, createModel: CreateModel): BuiltInAgents {
  const { config, environment, dataDir, instanceId, runtimeDir, secretFolder, cgroupParent, masker, clock, log } = options
  let kind: Promise<TerminalKind> | undefined
  const trial = { cwd: '/', env: buildEnvironment({ server: environment }), marker: `${instanceId}/terminal-trial`, cgroupParent }
  return {
    createModel,
    environment,
    passEnvironment: config.passEnv,
    privateDirs: [dataDir, ...secretFolder.paths],
    cipher: options.cipher,
    homeDir: homeDirOf(environment),
    runtimeDir,
    makeSecretDir: () => secretFolder.make(),
    instanceId,
    cgroupParent,
    hostname: hostname(),
    platform: process.platform,
    browser: {
      program: config.browser,
      withoutSandbox: config.browserNoSandbox,
      allowed: config.browserAllow,
      places: new BrowserPlaces(config.browserLimit),
    },
    terminalKind: () => (kind ??= detectTerminalKind(trial)),
    createMaskingStream: () => masker.stream(),
    mcp,
    mcpLimits: { startTimeoutMs: config.mcpStartTimeoutMs, patienceMs: config.mcpPatienceMs },
    clock,
    log,
  }
}

function mcpHost({ config, environment, instanceId, cgroupParent, logins }: AgentMakerOptions): McpHost {
  return {
    environment,
    passEnvironment: config.passEnv,
    instanceId,
    createId: randomUUID,
    startProcess: (options) => startChild({ ...options, cgroupParent }),
    version,
    logins,
    messageLimits: { limitBytes: config.mcpMessageLimitBytes, valueLimit: config.jsonValueLimit },
  }
}

function acpOptions(
  agent: Extract<ConversationAgent, { kind: 'ACPAgent' }>,
  host: AgentHost,
  options: AgentMakerOptions,
  slots: AgentSlots,
): Parameters<typeof createAcpAgent>[0] {
  const { config, environment, instanceId, runtimeDir, secretFolder, cgroupParent, providers, installed, logins, clock, log } = options
  return {
    settings: { ...agent, acp_server: agent.acp_server ?? customServer },
    host,
    providers,
    logins,
    installedCommand: (name) => installed.commandOf(name),
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

function builtInSettings(agent: ConversationAgent): BuiltInSettings {
  if (agent.kind !== 'Agent') throw new TypeError('A conversation of the built-in agent has been given another agent')
  return agent
}

/** Of the user whose skills are read. */
export function homeDirOf({ HOME: home }: Environment): string | undefined {
  return home !== undefined && isAbsolute(home) ? home : undefined
}
