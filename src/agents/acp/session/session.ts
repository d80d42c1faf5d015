/**
 * One session of a running agent: its prompts, mode, model, options and MCP servers.
 *
 * A session also receives the agent's updates, even between turns. Clients must not see session ids (session-mask).
 */
import { AppError, errorOf } from '../../../base/errors.ts'
import { memberAt, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { Log } from '../../../base/log.ts'
import { RpcError, RpcTimeoutError } from '../../../rpc/errors.ts'
import type { ConfirmationPolicy } from '../../../schema/generated/conversations.ts'
import type { Timers } from '../calls/timers.ts'
import type { AgentInfo } from './agent-info.ts'
import { optionRequest, type SessionOption } from './config-options.ts'
import type { AgentConnection, AgentListener, RunningProcess } from './connection.ts'
import { AcpFailure } from './failure.ts'
import { failedMcpServer, mcpState, withFailure, type McpServerState } from './mcp-servers.ts'
import { modelRequest } from './models.ts'
import { chooseMode, isTooOpen, modeRequest, type ModeRules } from './modes.ts'
import { closedValue, isOpenOption } from './open-options.ts'
import { OwnBeginning } from './own-beginning.ts'
import type { PromptBlock } from './prompt.ts'
import { reasonOf, refused } from './request-failure.ts'
import {
  choicesState, readChoices, updateChoices, withMode, withModel, withOption, withOptions, type SessionChoices,
} from './session-choices.ts'
import { signedInState, type SignIn } from './sign-in.ts'

export interface SessionOptions {
  readonly id: string
  readonly agent: AgentInfo
  readonly connection: AgentConnection
  readonly choices: SessionChoices
  readonly mcpServers: readonly McpServerState[]
  /** The mode in which the session began, perhaps in an earlier program; undefined for an agent without modes. */
  readonly begunIn: string | undefined
  readonly rules: ModeRules
  readonly signIn: SignIn
  readonly log: Log
  readonly timers: Timers
  /** If the program changed its credential files, stores their new texts in the secrets. */
  readonly readBack: () => Promise<void>
  /** Removes the credential files and the temporary home of the program. */
  readonly cleanUp: () => Promise<void>
}

/** Requests turns for work that the agent begins by itself. */
export interface OwnWorkKeeper {
  isKnownCall(id: string): boolean
  /** Asks for a turn for the agent's own work. Resolves when a run is under way; rejects when no turn may begin. */
  begin(): Promise<void>
  /** Ends the agent's program after `begin` rejected: an agent must not work while no turn records its work. */
  refused(): void
}

/** The time limit of each request of an AcpSession except the prompt. */
const requestTimeoutMs = 30_000
const cannotFork = 'Cannot ask the agent beside its work: it cannot copy its session'

export class AcpSession {
  readonly id: string
  readonly agent: AgentInfo
  readonly connection: AgentConnection
  readonly signIn: SignIn
  readonly begunIn: string | undefined
  readonly rules: ModeRules
  readonly #options: SessionOptions
  #choices: SessionChoices
  #mcpServers: readonly McpServerState[]
  readonly #own: OwnBeginning
  #keeper: OwnWorkKeeper | undefined
  #onChange: () => void = () => undefined
  #isTurnCancelled = false
  #processes: Promise<readonly RunningProcess[] | undefined>
  #closing: Promise<void> | undefined

  constructor(options: SessionOptions) {
    this.id = options.id
    this.agent = options.agent
    this.connection = options.connection
    this.signIn = options.signIn
    this.begunIn = options.begunIn
    this.rules = options.rules
    this.#options = options
    this.#choices = options.choices
    this.#mcpServers = options.mcpServers
    this.#own = new OwnBeginning({
      timers: options.timers,
      isKnownCall: (id) => this.#keeper?.isKnownCall(id) ?? false,
      begin: () => this.#keeper?.begin() ?? Promise.reject(new TypeError('The session has no keeper of own work')),
      refused: () => this.#keeper?.refused(),
    })
    this.#processes = this.#findProcesses()
    this.connection.listen(this.id, {
      onUpdate: (update) => this.#hear(update),
      onPermission: (params, withdrawn) => this.#own.asked(params, withdrawn),
    })
  }

  /** Sets a function that is called when an update or a response of the agent may have changed `state`. */
  watch(onChange: () => void): void {
    this.#onChange = onChange
  }

  /** Sets the keeper. Without one, the agent's own work gets no turn: updates are dropped, questions are cancelled. */
  keepOwnWork(keeper: OwnWorkKeeper): void {
    this.#keeper = keeper
  }

  /** True while work that the agent began waits for a turn. */
  get hasOwnWork(): boolean {
    return this.#own.isHolding
  }

  /** Passes the messages of the agent's own work to the listener of a turn: stored messages first, then new ones. */
  take(listener: AgentListener): void {
    this.#own.attach(listener, false)
  }

  /**
   * The program's processes after the last turn, or at the session's beginning; undefined where they cannot be listed.
   */
  get processesAtRest(): Promise<readonly RunningProcess[] | undefined> {
    return this.#processes
  }

  /** Ends a turn and lists the running processes, so that new processes of the next turn can be recognized. */
  rest(wasStopped: boolean): void {
    this.#own.detach(wasStopped || this.#isTurnCancelled)
    this.#isTurnCancelled = false
    this.#processes = this.#findProcesses()
  }

  get model(): string | undefined {
    return this.#choices.models.current
  }

  /** True when the mode or an option lets the agent skip questions, unless the policy is NeverConfirm. */
  isTooOpen(policy: ConfirmationPolicy): boolean {
    return isTooOpen(this.mode, policy, this.rules) || (policy.kind !== 'NeverConfirm' && this.#openOptions.length > 0)
  }

  /** The option with this id; undefined for the mode, the model and an unknown option. */
  option(id: string): SessionOption | undefined {
    return this.#choices.options.find((one) => one.id === id)
  }

  get #openOptions(): readonly SessionOption[] {
    const { options } = this.#choices
    return options.filter((option) => option.current !== undefined && isOpenOption(option, option.current))
  }

  get mode(): string | undefined {
    return this.#choices.modes.current
  }

  /** The first words of commands that the agent is trusted to run without a question in its mode; `*` for all. */
  get runsUnasked(): readonly string[] {
    return this.rules.runsUnasked(this.mode)
  }

  /** The session's members of `agent_state`, for clients (contract/conversations.md, section 11). */
  get state(): JsonObject {
    return {
      acp_agent_name: this.agent.name,
      acp_agent_version: this.agent.version,
      ...choicesState(this.#choices),
      ...mcpState(this.#mcpServers),
      ...signedInState(this.signIn),
    }
  }

  /** Sends a prompt and returns the result in the response that ends the turn. The wait has no time limit. */
  prompt(blocks: readonly PromptBlock[], listener: AgentListener): Promise<unknown> {
    this.#own.attach(listener, true)
    return this.connection.request('session/prompt', { sessionId: this.id, prompt: blocks }, { timeoutMs: Infinity })
  }

  cancelPrompt(): void {
    this.#isTurnCancelled = true
    this.connection.notify('session/cancel', { sessionId: this.id })
  }

  /**
   * Sets the mode that `chooseMode` returns. Unless the policy is NeverConfirm, switches off options by which the agent
   * stops asking.
   * @throws AcpFailure when the agent would ask less often than the policy requires
   */
  async applyMode(policy: ConfirmationPolicy, named: string | undefined): Promise<void> {
    const { rules } = this
    const { offered, current } = this.#choices.modes
    const wanted = chooseMode({ policy, named, rules, offered })
    let problem = 'it offers no other mode'
    if (wanted !== undefined && wanted !== current) {
      try {
        await this.#setMode(wanted)
      } catch (error) {
        problem = reasonOf(error)
        const fault = error instanceof RpcError ? undefined : errorOf(error)
        this.#options.log.warn('The agent refused a session mode', { mode: wanted, problem, error: fault })
      }
    }
    if (isTooOpen(this.mode, policy, rules)) {
      const stays = `The agent stays in the mode "${this.mode}", which does not ask for confirmation`
      throw new AcpFailure('ACPInitError', `${stays}: ${problem}`)
    }
    if (policy.kind !== 'NeverConfirm') for (const option of this.#openOptions) await this.#close(option)
  }

  async #close(option: SessionOption): Promise<void> {
    const { id, current } = option
    const stays = `The option "${id}" of the agent stays at "${current}", which does not ask for confirmation`
    const value = closedValue(option)
    if (value === undefined) throw new AcpFailure('ACPInitError', `${stays}: it offers no other value`)
    await this.setOption(id, value).catch((error: unknown) => {
      throw new AcpFailure('ACPInitError', `${stays}: ${reasonOf(error)}`, error)
    })
    if (this.#openOptions.some((open) => open.id === id)) throw new AcpFailure('ACPInitError', stays)
  }

  /** @throws AppError `bad_request` when the agent cannot switch or refuses, `agent_timeout`, `agent_failed`. */
  async setModel(model: string): Promise<void> {
    const { via, current } = this.#choices.models
    if (via === undefined) {
      throw new AppError('bad_request', `Cannot use the model "${model}": this agent does not let its model be chosen`)
    }
    if (model === current) return
    const { method, params } = modelRequest(via, this.id, model)
    const answer = await this.#request(method, params).catch((error: unknown) => {
      throw refused(`Cannot use the model "${model}"`, error)
    })
    this.#change(withModel(withOptions(this.#choices, objectOf(answer)), model))
  }

  /** @throws AppError `bad_request`, `agent_timeout`, `agent_failed` */
  async setOption(id: string, value: string): Promise<void> {
    const option = this.option(id)
    const what = `Cannot set the option "${id}" to "${value}"`
    if (option === undefined) {
      throw new AppError('bad_request', `${what}: ${expectedOf(this.#choices.options.map((one) => one.id))}`)
    }
    if (!option.values.includes(value)) {
      throw new AppError('bad_request', `${what}: expected one of ${option.values.join(', ')}`)
    }
    if (value === option.current) return
    const { method, params } = optionRequest(option, this.id, value)
    const answer = await this.#request(method, params).catch((error: unknown) => {
      throw refused(what, error)
    })
    this.#change(withOptions(withOption(this.#choices, option, value), objectOf(answer)))
  }

  /** @throws AppError `bad_request` when the agent does not offer the mode. */
  assertOffers(mode: string): void {
    const { offered } = this.#choices.modes
    if (offered.includes(mode)) return
    throw new AppError('bad_request', `Cannot use the mode "${mode}": ${expectedOf(offered)}`)
  }

  /** @throws AppError `bad_request`, `agent_timeout`, `agent_failed` */
  async switchMode(mode: string): Promise<void> {
    this.assertOffers(mode)
    if (mode === this.#choices.modes.current) return
    await this.#setMode(mode).catch((error: unknown) => {
      throw refused(`Cannot use the mode "${mode}"`, error)
    })
  }

  /**
   * Opens a second session in the same program: a copy of this session, or a new session if `isPrompted` is false.
   * @throws AppError `bad_request` when the agent cannot copy sessions; `agent_timeout`, `agent_failed`
   */
  async fork(cwd: string, isPrompted: boolean): Promise<AcpSession> {
    if (!this.agent.can('fork')) throw new AppError('bad_request', cannotFork)
    const place = { cwd, mcpServers: [] }
    const copying = isPrompted
      ? this.#request('session/fork', { sessionId: this.id, ...place })
      : this.#request('session/new', place)
    const result = await copying.catch((error: unknown) => {
      const code = error instanceof RpcTimeoutError ? 'agent_timeout' : 'agent_failed'
      throw new AppError(code, `Cannot copy the session: ${reasonOf(error)}`)
    })
    const id = textOf(memberAt(result, 'sessionId'))
    if (id === undefined) throw new AppError('agent_failed', 'Cannot copy the session: the agent named no new session')
    const choices = readChoices(result)
    return new AcpSession({ ...this.#options, id, choices, mcpServers: [] })
  }

  /** Closes and deletes a session that `fork` opened, as far as the agent can. The program keeps running. */
  async discard(): Promise<void> {
    this.connection.unlisten(this.id)
    this.#own.close()
    for (const step of ['close', 'delete']) {
      if (!this.agent.can(step)) continue
      await this.#request(`session/${step}`, { sessionId: this.id }).catch((error: unknown) => {
        this.#options.log.warn('A copy of a session is left with its agent', { step, error: errorOf(error) })
      })
    }
  }

  /** If the program changed its credential files, stores their new texts in the secrets. Never rejects. */
  readBack(): Promise<void> {
    return this.#options.readBack()
  }

  /** Ends the program, and removes its credential files and temporary home. Idempotent. */
  close(): Promise<void> {
    this.#own.close()
    this.#closing ??= this.connection.close().finally(() => this.#options.cleanUp())
    return this.#closing
  }

  async #setMode(mode: string): Promise<void> {
    const { method, params } = modeRequest(this.#choices.modes, this.id, mode)
    const answer = await this.#request(method, params)
    this.#change(withMode(withOptions(this.#choices, objectOf(answer)), mode))
  }

  #change(choices: SessionChoices): void {
    if (choices === this.#choices) return
    this.#choices = choices
    this.#onChange()
  }

  #hear(update: Fields): void | Promise<void> {
    const failure = failedMcpServer(update)
    // Codex reports the failed start of an MCP server as a tool call. The session's state shows the failure instead.
    if (failure !== undefined) return this.#mcpServerFailed(failure)
    this.#change(updateChoices(this.#choices, update))
    return this.#own.hear(update)
  }

  #mcpServerFailed(failure: { readonly name: string; readonly detail: string }): void {
    this.#mcpServers = withFailure(this.#mcpServers, failure)
    this.#onChange()
  }

  #findProcesses(): Promise<readonly RunningProcess[] | undefined> {
    return this.connection.processes().catch(() => undefined) // After an error, the processes count as unknown.
  }

  #request(method: string, params: object): Promise<unknown> {
    return this.connection.request(method, params, { timeoutMs: requestTimeoutMs })
  }
}

function expectedOf(names: readonly string[]): string {
  return names.length === 0 ? 'this agent offers none' : `expected one of ${names.join(', ')}`
}
