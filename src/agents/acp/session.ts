/**
 * One session of a running agent: what it said of itself, the prompts it gets, its mode and its model.
 *
 * Made by start-session. A session lives until `close`, or until its program ends; nothing here restarts it. Session ids
 * are private: they never appear in a message, an event or a log line.
 */
import { AppError, messageOf, type ErrorCode } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import { RpcError, RpcTimeoutError } from '../../rpc/errors.ts'
import type { ProviderModes } from '../../settings/providers-table.ts'
import type { AgentConnection, AgentListener, RunningProcess } from './connection.ts'
import { AcpFailure, describe } from './failure.ts'
import { memberAt, objectOf, textOf, type Fields } from './fields.ts'
import { chooseMode, isTooOpen, type SessionModes } from './modes.ts'
import { modelRequest, type SessionModels } from './models.ts'
import type { PromptBlock } from './prompt.ts'
import { readAuthMethods, signedInState, type AuthMethod, type SignIn } from './sign-in.ts'

/** What `initialize` told. */
export interface AgentInfo {
  readonly name: string
  readonly version: string
  readonly takesImages: boolean
  /** Commands are told by the title of a call alone. */
  readonly titleIsCommand: boolean
  /** Failures of the model's API show only as `usage: null` or a thread status (acp.md, 3.5). */
  readonly hidesFailures: boolean
  readonly capabilities: Fields
  readonly authMethods: readonly AuthMethod[]
}

export function readAgentInfo(result: unknown): AgentInfo {
  const { agentInfo, agentCapabilities, authMethods } = objectOf(result)
  const name = textOf(objectOf(agentInfo).name) ?? 'unknown'
  const capabilities = objectOf(agentCapabilities)
  return {
    name,
    version: textOf(objectOf(agentInfo).version) ?? 'unknown',
    takesImages: memberAt(capabilities, 'promptCapabilities', 'image') === true,
    titleIsCommand: name === 'gemini-cli',
    hidesFailures: name.includes('codex-acp'),
    capabilities,
    authMethods: readAuthMethods(authMethods),
  }
}

export interface SessionOptions {
  readonly id: string
  readonly agent: AgentInfo
  readonly connection: AgentConnection
  readonly modes: SessionModes
  readonly models: SessionModels
  readonly knownModes: ProviderModes | undefined
  readonly signIn: SignIn
  readonly log: Log
  /** Takes over what the program has changed in the files it was lent. */
  readonly readBack: () => Promise<void>
  /** Removes what was made for the program. */
  readonly cleanUp: () => Promise<void>
}

/** Everything but a prompt is answered soon or not at all. */
const requestTimeoutMs = 30_000

export class AcpSession {
  readonly id: string
  readonly agent: AgentInfo
  readonly connection: AgentConnection
  readonly signIn: SignIn
  readonly #options: SessionOptions
  #mode: string | undefined
  #model: string | undefined
  #processes: Promise<readonly RunningProcess[] | undefined>
  #closing: Promise<void> | undefined

  constructor(options: SessionOptions) {
    this.id = options.id
    this.agent = options.agent
    this.connection = options.connection
    this.signIn = options.signIn
    this.#options = options
    this.#mode = options.modes.current
    this.#model = options.models.current
    this.#processes = this.#findProcesses()
  }

  /** What of the program ran when it last had nothing to do; undefined where that cannot be seen. */
  get processesAtRest(): Promise<readonly RunningProcess[] | undefined> {
    return this.#processes
  }

  /** A turn is over: what runs now was not started by the next one. */
  rest(): void {
    this.connection.listen(undefined)
    this.#processes = this.#findProcesses()
  }

  get model(): string | undefined {
    return this.#model
  }

  /** What clients see of it in `agent_state` (contract: conversations.md, section 11). */
  get state(): JsonObject {
    const { models } = this.#options
    return {
      acp_agent_name: this.agent.name,
      acp_agent_version: this.agent.version,
      acp_current_model_id: this.#model ?? null,
      acp_available_models: [...models.available],
      acp_supports_runtime_model_switch: models.via !== undefined,
      ...signedInState(this.signIn),
    }
  }

  /** Sends a prompt; resolves with the answer that ends the turn, whenever that is. */
  prompt(blocks: readonly PromptBlock[], listener: AgentListener): Promise<unknown> {
    this.connection.listen(listener)
    return this.connection.request('session/prompt', { sessionId: this.id, prompt: blocks }, { timeoutMs: Infinity })
  }

  cancelPrompt(): void {
    this.connection.notify('session/cancel', { sessionId: this.id })
  }

  /**
   * Brings the session into the mode that the policy asks for, as far as the agent offers one.
   * @throws AcpFailure when the agent would stay in a mode that is more open than the policy.
   */
  async applyMode(policy: ConfirmationPolicy, named: string | undefined): Promise<void> {
    const { modes, knownModes, log } = this.#options
    const wanted = chooseMode({ policy, named, known: knownModes, offered: modes.offered })
    let problem = 'it offers no other mode'
    if (wanted !== undefined && wanted !== this.#mode) {
      try {
        await this.#request('session/set_mode', { sessionId: this.id, modeId: wanted })
        this.#mode = wanted
      } catch (error) {
        problem = error instanceof RpcError ? describe(error) : messageOf(error)
        log.warn('The agent refused a session mode', { mode: wanted, problem })
      }
    }
    if (!isTooOpen(this.#mode, policy, knownModes)) return
    const mode = `"${this.#mode}", which does not ask for confirmation`
    throw new AcpFailure('ACPInitError', `The agent stays in the mode ${mode}: ${problem}`)
  }

  /** @throws AppError `bad_request` when the agent cannot switch or refuses, `agent_timeout`, `agent_failed`. */
  async setModel(model: string): Promise<void> {
    const { via } = this.#options.models
    if (via === undefined) {
      throw new AppError('bad_request', `Cannot use the model "${model}": this agent does not let its model be chosen`)
    }
    if (model === this.#model) return
    const { method, params } = modelRequest(via, this.id, model)
    try {
      await this.#request(method, params)
    } catch (error) {
      const reason = error instanceof RpcError ? describe(error) : messageOf(error)
      throw new AppError(errorCodeFor(error), `Cannot use the model "${model}": ${reason}`, { cause: error })
    }
    this.#model = model
  }

  /** Takes over what the program has changed in the files it was lent. Never rejects. */
  readBack(): Promise<void> {
    return this.#options.readBack()
  }

  /** Ends the program and removes what was made for it. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.connection.close().finally(() => this.#options.cleanUp())
    return this.#closing
  }

  #findProcesses(): Promise<readonly RunningProcess[] | undefined> {
    return this.connection.processes().catch(() => undefined)
  }

  #request(method: string, params: object): Promise<unknown> {
    return this.connection.request(method, params, { timeoutMs: requestTimeoutMs })
  }
}

function errorCodeFor(error: unknown): ErrorCode {
  if (error instanceof RpcError) return 'bad_request'
  return error instanceof RpcTimeoutError ? 'agent_timeout' : 'agent_failed'
}
