/**
 * One MCP server of an open conversation: started when its tools are requested, and restarted after it has ended.
 *
 * `ready` starts the server, or lists its changed tools again, and waits at most `patienceMs`. From the second failure
 * on, the next start is delayed, each time longer, up to 5 minutes. A session longer than `steadyMs` resets the delay.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Clock } from '../../base/stamp.ts'
import { within } from '../../base/wait.ts'
import { RpcClosedError, RpcError } from '../../rpc/errors.ts'
import type { McpTool } from '../../schema/generated/tools.ts'
import type { Fields } from '../../base/fields.ts'
import type { Tool } from '../../agents/tool.ts'
import type { McpClient } from './client.ts'
import { LoginRequiredError } from './oauth/logins.ts'
import { SessionLostError } from './transport.ts'

export type ServerStatus = 'waiting' | 'starting' | 'ready' | 'failed' | 'needs_login'

export interface ServerLimits {
  /** The time limit, in milliseconds, for connecting and the first listing of the tools. */
  readonly startTimeoutMs: number
  /** The longest time, in milliseconds, that `ready` waits for a start or a listing of the tools. */
  readonly patienceMs: number
}

export interface ServerOptions {
  /** Opens a session with the server. @throws AppError, the errors of RpcPeer, or the signal's reason */
  readonly connect: (onToolsChanged: () => void, signal: AbortSignal) => Promise<McpClient>
  /** Makes the agent's tools from the server's list. These tools call the server with `call`. */
  readonly makeTools: (listed: readonly McpTool[], call: CallTool, signal: AbortSignal) => Promise<readonly Tool[]>
  readonly limits: ServerLimits
  readonly callSilenceMs: number
  readonly clock: Clock
  readonly onChange: () => void
  /** Called when listing the tools again fails, and when closing a session fails. */
  readonly onProblem: (error: unknown) => void
}

export type CallTool = (name: string, args: JsonObject, signal: AbortSignal) => Promise<Fields>

const firstPauseMs = 1000
const longestPauseMs = 300_000
/** The end of a session that lasted longer than this time, in milliseconds, resets the count of failures. */
const steadyMs = 60_000

export class McpServer {
  readonly #options: ServerOptions
  readonly #stop = new AbortController()
  #status: ServerStatus = 'waiting'
  #detail: string | undefined
  #client: McpClient | undefined
  #tools: readonly Tool[] = []
  /** The start or the listing of tools that is under way; undefined if there is none. Never rejects. */
  #work: Promise<void> | undefined
  /** Resolves when `#work` has ended, or earlier, after the time that was given to `#await`. */
  #patience: Promise<unknown> = Promise.resolve()
  /** Resolves when all sessions that `#end` has ended so far are closed. */
  #endings: Promise<unknown> = Promise.resolve()
  #isStale = false
  #lastStartFailed = false
  #failures = 0
  #startedAt = 0
  #dueAt = 0

  constructor(options: ServerOptions) {
    this.#options = options
  }

  get status(): ServerStatus {
    return this.#status
  }

  /** The reason of the status `failed` or `needs_login`; undefined for another status. */
  get detail(): string | undefined {
    return this.#detail
  }

  get tools(): readonly Tool[] {
    return this.#tools
  }

  /**
   * Starts the server if a start is due, or lists its tools again if they have changed. Waits at most `patienceMs`, and
   * not at all if the last start failed for another reason than a missing login. Never rejects.
   */
  async ready(): Promise<void> {
    if (this.#work === undefined && !this.#stop.signal.aborted) this.#begin()
    await this.#patience
  }

  /** Calls a tool and returns its raw result. @throws AppError, or the signal's reason */
  async call(name: string, args: JsonObject, signal: AbortSignal): Promise<Fields> {
    try {
      return await this.#call(name, args, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof AppError ? error : new AppError('upstream_failed', wordsOf(error), { cause: error })
    }
  }

  /** Aborts a running start or listing of tools, then closes the session. Idempotent. Never rejects. */
  async close(): Promise<void> {
    this.#stop.abort(new AppError('conflict', 'The conversation is being closed'))
    await this.#work
    this.#end()
    await this.#endings
  }

  async #call(name: string, args: JsonObject, signal: AbortSignal): Promise<Fields> {
    const client = this.#client
    if (client === undefined) {
      throw new AppError('upstream_failed', `The server of this tool is gone: ${this.#detail ?? 'it has not started'}`)
    }
    const call = { name, args, signal, silenceMs: this.#options.callSilenceMs }
    try {
      return await client.callTool(call)
    } catch (error) {
      signal.throwIfAborted()
      if (!isSessionLost(error)) throw await client.explain(error)
    }
    // The server did not process the call, so it is sent again (MCP 2025-06-18, transports, "Session Management", 4).
    await client.over
    await this.ready()
    if (this.#client === undefined) {
      throw new AppError(
        'upstream_failed', `The server has forgotten the session: ${this.#detail ?? 'no new session has begun'}`,
      )
    }
    return this.#client.callTool(call)
  }

  #begin(): void {
    const { clock, limits } = this.#options
    if (this.#client !== undefined) {
      if (this.#isStale) this.#await(this.#listAgain(this.#client), limits.patienceMs)
      return
    }
    if (clock() < this.#dueAt) return
    // Steps of the agent do not wait for the start of a server with `#lastStartFailed`.
    this.#await(this.#start(), this.#lastStartFailed ? 0 : limits.patienceMs)
  }

  #await(work: Promise<void>, patienceMs: number): void {
    const done = work.finally(() => (this.#work = undefined))
    this.#work = done
    this.#patience = within(done, patienceMs)
  }

  async #start(): Promise<void> {
    this.#report('starting')
    const { connect, limits, clock } = this.#options
    const late = new AbortController()
    const problem = new AppError('upstream_timeout', `The server was not ready within ${limits.startTimeoutMs} ms`)
    const timer = setTimeout(() => late.abort(problem), limits.startTimeoutMs)
    try {
      const signal = AbortSignal.any([this.#stop.signal, late.signal])
      const client = await connect(() => (this.#isStale = true), signal)
      this.#client = client
      this.#startedAt = clock()
      await this.#readTools(client, signal)
      this.#lastStartFailed = false
      this.#report('ready')
      void client.over.then((reason) => this.#lost(client, reason))
    } catch (error) {
      this.#lastStartFailed = !isLoginRequired(error)
      if (isLoginRequired(error)) this.#needLogin()
      else this.#fail(wordsOf(await this.#client?.explain(error) ?? error))
    } finally {
      clearTimeout(timer)
    }
  }

  async #listAgain(client: McpClient): Promise<void> {
    try {
      await this.#readTools(client, this.#stop.signal)
      this.#options.onChange()
    } catch (error) {
      if (this.#stop.signal.aborted) return
      const problem = new Error(`The tools could not be listed again: ${wordsOf(error)}`, { cause: error })
      this.#options.onProblem(problem)
    }
  }

  /** Reads the list of tools. If the server announces a change meanwhile, the next `ready` reads the list again. */
  async #readTools(client: McpClient, signal: AbortSignal): Promise<void> {
    this.#isStale = false
    const listed = await client.listTools(signal)
    this.#tools = await this.#options.makeTools(listed, (name, args, caller) => this.call(name, args, caller), signal)
  }

  #lost(client: McpClient, reason: string): void {
    if (this.#client !== client || this.#stop.signal.aborted) return
    if (this.#options.clock() - this.#startedAt > steadyMs) this.#failures = 0
    this.#fail(reason)
  }

  #fail(reason: string): void {
    this.#end()
    // The first failure causes no delay: the next call of `ready` starts the server again.
    const pauseMs = this.#failures === 0 ? 0 : firstPauseMs * 2 ** (this.#failures - 1)
    this.#failures++
    this.#dueAt = this.#options.clock() + Math.min(pauseMs, longestPauseMs)
    this.#report('failed', reason)
  }

  #needLogin(): void {
    this.#end()
    this.#report('needs_login', new LoginRequiredError().message)
  }

  #end(): void {
    const client = this.#client
    this.#client = undefined
    this.#tools = []
    if (client === undefined) return
    const ending = client.close().catch((error: unknown) => this.#options.onProblem(error))
    this.#endings = Promise.all([this.#endings, ending])
  }

  #report(status: ServerStatus, detail?: string): void {
    this.#status = status
    this.#detail = detail
    if (!this.#stop.signal.aborted) this.#options.onChange()
  }
}

function isSessionLost(error: unknown): boolean {
  return error instanceof SessionLostError || error instanceof RpcClosedError && error.cause instanceof SessionLostError
}

function isLoginRequired(error: unknown): boolean {
  return (
    error instanceof LoginRequiredError ||
    (error instanceof Error && error.cause !== undefined && isLoginRequired(error.cause))
  )
}

function wordsOf(error: unknown): string {
  return error instanceof RpcError ? `[${error.code}] ${error.message}` : messageOf(error)
}
