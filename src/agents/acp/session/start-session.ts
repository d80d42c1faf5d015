/**
 * Starts an agent program and opens a session in it: initialize, authenticate, then resume, load or create a session,
 * then set model, options and mode (ACP v1, initialization and session setup; agents/acp/sessions.md, "Beginning").
 *
 * The requests to the agent share one time limit. A session that cannot be resumed is replaced by a new session. After
 * a failure the program is ended, and its credential files and temporary home are removed.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../base/errors.ts'
import { memberAt, textOf } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { untilAborted } from '../../../base/wait.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { McpTokens } from '../../../offers.ts'
import { RpcClosedError, RpcError, RpcTimeoutError } from '../../../rpc/errors.ts'
import type { Provider } from '../../../settings/providers.ts'
import type { Timers } from '../calls/timers.ts'
import { readAgentInfo, type AgentInfo } from './agent-info.ts'
import { AgentConnection, type StartProcess } from './connection.ts'
import { demoAgentName, demoModes } from './demo-modes.ts'
import { AcpFailure, failureOf, withTail } from './failure.ts'
import { initialize } from './initialize.ts'
import { planLaunch, type AcpSettings, type Launch, type LaunchOptions } from './launch.ts'
import { planMcpServers, type McpPlan } from './mcp-servers.ts'
import { withTokens } from './mcp-tokens.ts'
import { providerRules, unknownAgentRules, type ModeRules } from './modes.ts'
import { isOpenOption } from './open-options.ts'
import { readChoices } from './session-choices.ts'
import { sessionMask } from './session-mask.ts'
import { AcpSession } from './session.ts'
import { askToSignIn } from './sign-in.ts'

export interface StartOptions extends Omit<LaunchOptions, 'secrets' | 'ownSecretNames' | 'agentDir' | 'replaceSecret'> {
  readonly settings: AcpSettings
  readonly host: AgentHost
  /** The id of the data folder. In the environment of each child process, `AGENT_SERVER_CHILD` begins with the id. */
  readonly instanceId: string
  /** Makes ids that are used once: for children, turns and files. */
  readonly createId: () => string
  readonly startProcess: StartProcess
  readonly providers: readonly Provider[]
  readonly mcpTokens: McpTokens
  readonly timers: Timers
  readonly log: Log
  readonly version: string
  readonly lineLimitBytes?: number
  readonly valueLimit?: number
  /** How long an agent may take to authenticate. Default 30 s. */
  readonly authenticateTimeoutMs?: number
}

export interface SessionChoice {
  /** The model that clients chose; undefined for the model of the agent settings. */
  readonly model: string | undefined
  /** The mode that clients chose; undefined for the mode of the agent settings. */
  readonly mode: string | undefined
  /** The values that clients chose for options other than model and mode, by the id of the option. */
  readonly options: Readonly<Record<string, string>>
}

export interface StartedSession {
  readonly session: AcpSession
  /** False when an earlier session was resumed or loaded. */
  readonly isNew: boolean
  /** Notes for the user, each of one or several sentences. */
  readonly notes: readonly string[]
}

const forgotten =
  'The agent could not resume its earlier session. '
  + 'Its new session does not remember this conversation and is given a record of it.'

/**
 * Starts a program and opens a session, with the time limit `acp_startup_timeout`. Sets model, options and mode by
 * `choices` and the confirmation policy. A choice that cannot be set becomes a note.
 * @throws AcpFailure, or the signal's reason
 */
export async function startSession(
  options: StartOptions, choices: () => SessionChoice, signal: AbortSignal,
): Promise<StartedSession> {
  const limit = new AbortController()
  const seconds = options.settings.acp_startup_timeout
  const late = new AcpFailure('ACPStartupTimeout', `The agent was not ready within ${seconds} s (acp_startup_timeout)`)
  const timer = options.timers.after(seconds * 1000, () => limit.abort(late))
  try {
    return await launchAndOpen(options, choices, AbortSignal.any([signal, limit.signal]))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw failureOf(error, 'ACPInitError')
  } finally {
    timer.stop()
  }
}

async function launchAndOpen(
  options: StartOptions, choices: () => SessionChoice, signal: AbortSignal,
): Promise<StartedSession> {
  const launch = await planLaunch(await launchOptions(options, signal))
  const connection = await connect(options, launch).catch(async (error: unknown) => {
    await launch.cleanUp()
    throw failureOf(error, 'ACPSpawnError')
  })
  try {
    return await new Opening(options, choices, launch, connection, signal).open()
  } catch (error) {
    const isClosed = error instanceof RpcClosedError
    const reason = isClosed ? new AcpFailure('ACPInitError', await connection.over, error) : error
    await connection.close().finally(() => launch.cleanUp())
    // Stderr is complete after `close`.
    throw withTail(failureOf(reason, 'ACPInitError'), connection.stderrTail())
  }
}

async function launchOptions(options: StartOptions, signal: AbortSignal): Promise<LaunchOptions> {
  const { host, settings, providers, programs, runtimeDir, environment, passEnvironment, platform } = options
  const { clock, log, makeSecretDir, watchIntervalMs, installedCommand, allowNpx } = options
  return {
    settings, providers, programs, runtimeDir, environment, passEnvironment, platform, clock, log,
    makeSecretDir, watchIntervalMs,
    ...(installedCommand === undefined ? {} : { installedCommand }),
    ...(allowNpx === undefined ? {} : { allowNpx }),
    agentDir: host.agentDir,
    replaceSecret: (change) => host.replaceSecret(change),
    secrets: await host.secrets(signal),
    ownSecretNames: host.ownSecretNames(),
  }
}

async function connect(options: StartOptions, launch: Launch): Promise<AgentConnection> {
  const { instanceId, createId, startProcess, host, log, lineLimitBytes, valueLimit } = options
  const { command, args, env } = launch
  const marker = `${instanceId}/${createId()}`
  const program = await startProcess({ command, args, cwd: host.workingDir, env, marker })
  const mask = sessionMask(host)
  return new AgentConnection({ program, log, mask, lineLimitBytes, valueLimit })
}

/** Runs the steps from `initialize` to the mode, on the connection to a started program. */
class Opening {
  readonly #options: StartOptions
  readonly #choices: () => SessionChoice
  readonly #launch: Launch
  readonly #connection: AgentConnection
  readonly #signal: AbortSignal
  readonly #notes = new Set<string>()

  constructor(
    options: StartOptions, choices: () => SessionChoice, launch: Launch, connection: AgentConnection,
    signal: AbortSignal,
  ) {
    this.#options = options
    this.#choices = choices
    this.#launch = launch
    this.#connection = connection
    this.#signal = signal
  }

  async open(): Promise<StartedSession> {
    const agent = await this.#initialize()
    try {
      return await this.#openSession(agent)
    } catch (error) {
      if (!(error instanceof AcpFailure || error instanceof RpcError)) throw error
      throw askToSignIn(failureOf(error, 'ACPInitError'), this.#launch.signIn, agent.authMethods, this.#options.host)
    }
  }

  async #openSession(agent: AgentInfo): Promise<StartedSession> {
    await this.#authenticate(agent)
    const mcp = await this.#planMcpServers(agent)
    const { result, id, isNew } = await this.#resumeOrNew(agent, mcp)
    const { log, host } = this.#options
    const choices = readChoices(result)
    const kept = isNew ? undefined : textOf(host.kept('session')?.['begun_in'])
    const begunIn = kept ?? choices.modes.current
    const session = new AcpSession({
      id,
      agent,
      connection: this.#connection,
      choices,
      mcpServers: mcp.states,
      begunIn,
      rules: this.#rulesFor(agent, begunIn),
      log,
      timers: this.#options.timers,
      signIn: this.#launch.signIn,
      readBack: this.#launch.readBack,
      cleanUp: this.#launch.cleanUp,
    })
    await this.#choose(session)
    this.#noteUnmeasured(agent)
    return { session, isNew, notes: [...this.#notes] }
  }

  async #initialize(): Promise<AgentInfo> {
    const answer = await initialize((method, params) => this.#request(method, params), this.#options.version)
    return readAgentInfo(answer, this.#launch.signIn.provider)
  }

  async #authenticate(agent: AgentInfo): Promise<void> {
    const { authenticate } = this.#launch
    if (authenticate === undefined || !agent.authMethods.some(({ id }) => id === authenticate.methodId)) return
    try {
      await this.#request('authenticate', authenticate, this.#options.authenticateTimeoutMs ?? 30_000)
    } catch (error) {
      if (error instanceof RpcError) throw failureOf(error, 'ACPAuthRequired')
      // The agent may be waiting for a user to sign in.
      throw error instanceof RpcTimeoutError ? new AcpFailure('ACPAuthRequired', error.message, error) : error
    }
  }

  async #resumeOrNew(agent: AgentInfo, mcp: McpPlan): Promise<{ result: unknown; id: string; isNew: boolean }> {
    const { host } = this.#options
    const place = { cwd: host.workingDir, mcpServers: mcp.servers }
    const kept = host.kept('session')
    const keptId = kept?.['cwd'] === host.workingDir ? textOf(kept['id']) : undefined
    const resumed = keptId === undefined ? undefined : await this.#resume(agent, { sessionId: keptId, ...place })
    if (keptId !== undefined && resumed !== undefined) return { result: resumed, id: keptId, isNew: false }
    if (textOf(kept?.['id']) !== undefined) this.#notes.add(forgotten)
    const result = await this.#request('session/new', place)
    const id = textOf(memberAt(result, 'sessionId'))
    if (id === undefined) throw new AcpFailure('ACPInitError', 'The agent opened a session without an id')
    return { result, id, isNew: true }
  }

  /**
   * Resumes or loads the session and returns the response. Returns undefined when the agent cannot resume or refuses,
   * or when a resume would run open calls again (`Quirks.rerunsOpenCalls`).
   * @throws AcpFailure `ACPAuthRequired` for a refusal that asks for a login; the errors of the connection
   */
  async #resume(agent: AgentInfo, params: object): Promise<unknown> {
    const canResume = agent.can('resume')
    if (agent.quirks.rerunsOpenCalls === true) return undefined
    if (!canResume && agent.capabilities['loadSession'] !== true) return undefined
    try {
      return await this.#request(canResume ? 'session/resume' : 'session/load', params)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const failure = failureOf(error, 'ACPInitError')
      if (failure.code === 'ACPAuthRequired') throw failure
      this.#options.log.warn('An agent did not resume its earlier session', { problem: failure })
      return undefined
    }
  }

  async #planMcpServers(agent: AgentInfo): Promise<McpPlan> {
    const mcp = (name: string): boolean => memberAt(agent.capabilities, 'mcpCapabilities', name) === true
    const { settings, mcpTokens } = this.#options
    const can = { stdio: agent.quirks.ignoresStdioServers !== true, http: mcp('http'), sse: mcp('sse') }
    const plan = planMcpServers(await withTokens(settings.mcp_config, mcpTokens, this.#signal), can)
    const isLeft = (status: string): boolean => status === 'unsupported' || status === 'needs_login'
    const left = plan.states.filter(({ status }) => isLeft(status)).map(({ name }) => name)
    if (left.length > 0) this.#notes.add(`The agent cannot reach these MCP servers: ${left.join(', ')}.`)
    return plan
  }

  /** Sets model, options and mode. Repeats this if a client has changed its choice or the policy meanwhile. */
  async #choose(session: AcpSession): Promise<void> {
    const { host, settings } = this.#options
    const wanted = () => ({ choice: this.#choices(), policy: host.policy() })
    for (let last; !isDeepStrictEqual(last, wanted());) {
      last = wanted()
      const { choice: { model, mode, options }, policy } = last
      await this.#abortable(this.#setModel(session, model))
      for (const [id, value] of Object.entries(options)) await this.#abortable(this.#setOption(session, id, value))
      const named = mode ?? settings.acp_session_mode ?? undefined
      await this.#abortable(session.applyMode(policy, named))
      if (named !== undefined && session.mode !== named) this.#notes.add(modeNote(named, session.mode))
    }
  }

  /** Sets `chosen`, else `Launch.model`. After a failure, adds a note, and the agent keeps its model (decisions 22). */
  async #setModel(session: AcpSession, chosen: string | undefined): Promise<void> {
    const model = chosen ?? this.#launch.model
    if (model === undefined) return
    try {
      await session.setModel(model)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#notes.add(`${error.message}. The agent uses ${session.model ?? 'its own default'}.`)
    }
  }

  async #setOption(session: AcpSession, id: string, value: string): Promise<void> {
    const option = session.option(id)
    if (this.#options.host.policy().kind !== 'NeverConfirm' && option !== undefined && isOpenOption(option, value)) {
      this.#notes.add(`The option "${id}" was not set to "${value}", which is more open than the confirmation policy.`)
      return
    }
    try {
      await session.setOption(id, value)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#notes.add(`${error.message}.`)
    }
  }

  #rulesFor(agent: AgentInfo, begunIn: string | undefined): ModeRules {
    const modes = this.#launch.signIn.provider?.modes
    if (modes !== undefined && modes !== null) return providerRules(modes, agent.isMeasured)
    const isDemo = this.#options.settings.acp_command[0] === demoAgentName
    return isDemo ? providerRules(demoModes, true) : unknownAgentRules(begunIn)
  }

  /**
   * Adds a note about an agent with which this server was not tested, unless the conversation's last program had the
   * same name and version.
   */
  #noteUnmeasured(agent: AgentInfo): void {
    const { provider } = this.#launch.signIn
    const { host } = this.#options
    if (provider === undefined || provider.version === '' || agent.isMeasured) return
    const known = host.kept('session')
    if (known?.['agent_name'] === agent.name && known['agent_version'] === agent.version) return
    this.#notes.add(unmeasuredNote(agent, provider))
  }

  #request(method: string, params: object, timeoutMs = Infinity): Promise<unknown> {
    return this.#connection.request(method, params, { signal: this.#signal, timeoutMs })
  }

  async #abortable(step: Promise<void>): Promise<void> {
    await untilAborted(step, this.#signal)
  }
}

function modeNote(named: string, current: string | undefined): string {
  const now = current === undefined ? 'has no modes' : `is in the mode "${current}"`
  const problem = 'which it does not offer or which the confirmation policy does not allow'
  return `The agent was not brought into the mode "${named}", ${problem}. It ${now}.`
}

function unmeasuredNote({ name, version }: AgentInfo, provider: Provider): string {
  const known = `${provider.displayName} as ${provider.packageName} ${provider.version}`
  return `The agent calls itself ${name} ${version}. This server knows ${known}. It judges the agent's modes by that. `
    + 'It treats an unknown mode as a mode that does not ask.'
}
