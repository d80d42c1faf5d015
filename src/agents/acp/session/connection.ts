/**
 * A running agent program and the JSON-RPC connection to it.
 *
 * The connection is over after `close`. It also ends by itself, for example when the program exits or sends a line that
 * is too long. The program's last lines are read for at most `lastLinesMs` after its exit.
 */
import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../../../base/errors.ts'
import { objectOf, textOf, type Fields } from '../../../base/fields.ts'
import type { Log } from '../../../base/log.ts'
import { maskJson } from '../../../base/mask-json.ts'
import { deferred, within } from '../../../base/wait.ts'
import type { ChildExit, ChildOptions } from '../../../process/child.ts'
import { RpcError } from '../../../rpc/errors.ts'
import { LineFraming } from '../../../rpc/lines.ts'
import { rpcCodes } from '../../../rpc/message.ts'
import { RpcPeer, type IncomingRequest, type RequestOptions } from '../../../rpc/peer.ts'

/** The members of a child process (`process/child`) that a connection uses. */
export interface AgentProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly exited: Promise<ChildExit>
  stderrTail(): string
  /** The running processes of the program; undefined where they cannot be listed. */
  processes(): Promise<readonly RunningProcess[] | undefined>
  stop(): Promise<void>
}

export interface RunningProcess {
  readonly pid: number
  /** The start time of the process. A later process with the same pid has another start time. */
  readonly start: number
}

export type StartProcess = (options: ChildOptions) => Promise<AgentProcess>

/** Handles the messages of the agent about one session. */
export interface AgentListener {
  /** Handles one `session/update`. The next message is not handled before a returned promise has settled. */
  onUpdate(update: Fields): void | Promise<void>
  /** Answers one `session/request_permission`. `withdrawn` aborts on the request's cancel or the connection's end. */
  onPermission(params: Fields, withdrawn: AbortSignal): Promise<unknown>
}

export interface ConnectionOptions {
  readonly program: AgentProcess
  readonly log: Log
  /** Masks secrets in the agent's errors and in the result of `stderrTail`. */
  readonly mask: (text: string) => string
  /** The longest line that is read. A longer line ends the connection. */
  readonly lineLimitBytes?: number | undefined
  /** The most JSON values on one line. A line with more values ends the connection. */
  readonly valueLimit?: number | undefined
}

/** The longest wait for a program's last lines after its exit, or for its exit after the end of its output. */
const lastLinesMs = 1000
const noiseLogLimit = 20

export class AgentConnection {
  readonly #program: AgentProcess
  readonly #log: Log
  readonly #mask: (text: string) => string
  readonly #peer: RpcPeer
  readonly #ended = deferred<Error | undefined>()
  readonly #over: Promise<string>
  readonly #listeners = new Map<string, AgentListener>()
  #noise = 0
  #isOver = false

  constructor({ program, log, mask, lineLimitBytes, valueLimit }: ConnectionOptions) {
    this.#program = program
    this.#log = log
    this.#mask = mask
    this.#peer = new RpcPeer({
      framing: new LineFraming({
        input: program.stdout,
        output: program.stdin,
        lineLimitBytes,
        valueLimit,
      }),
      cancelMethod: '$/cancel_request',
      onRequest: (request) => this.#answer(request),
      onNotification: ({ method, params }) => this.#hear(method, params),
      onInvalid: (what) => this.#reportNoise(`broken message: ${what}`),
      onNoise: (excerpt) => this.#reportNoise(excerpt),
      onClosed: this.#ended.resolve,
    })
    this.#over = this.#awaitEnd(this.#ended.promise)
  }

  get pid(): number {
    return this.#program.pid
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when the connection is over, with the reason as text. Never rejects. */
  get over(): Promise<string> {
    return this.#over
  }

  /** Sets the listener of a session. Without it, the session's notifications are dropped and its requests refused. */
  listen(sessionId: string, listener: AgentListener): void {
    this.#listeners.set(sessionId, listener)
  }

  unlisten(sessionId: string): void {
    this.#listeners.delete(sessionId)
  }

  async request(method: string, params: object, options: RequestOptions): Promise<unknown> {
    try {
      return await this.#peer.request(method, params, options)
    } catch (error) {
      throw error instanceof RpcError ? maskedError(error, this.#mask) : error
    }
  }

  notify(method: string, params: object): void {
    void this.#peer.notify(method, params)
  }

  /** The end of the program's stderr, masked. */
  stderrTail(): string {
    return this.#mask(this.#program.stderrTail())
  }

  processes(): Promise<readonly RunningProcess[] | undefined> {
    return this.#program.processes()
  }

  /** Ends the program and all its descendants that can be found. Idempotent. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#peer.close()
    try {
      await this.#program.stop()
    } finally {
      // A closed peer does not call `onClosed`. Without this line `over` would wait `lastLinesMs` after the exit.
      this.#ended.resolve(undefined)
      await this.#over
    }
  }

  async #awaitEnd(ended: Promise<Error | undefined>): Promise<string> {
    const { exited } = this.#program
    const reason = await Promise.race([ended, exited.then(() => within(ended, lastLinesMs))])
    this.#isOver = true
    this.#peer.close()
    if (reason instanceof Error) return messageOf(reason)
    return exitText(await within(exited, lastLinesMs))
  }

  #hear(method: string, params: unknown): void | Promise<void> {
    if (method !== 'session/update') return
    const { sessionId, update, _meta } = objectOf(params)
    const fields = objectOf(update)
    // OpenHands sends `_meta` beside `update`, other agents send it in `update`.
    const whole = _meta === undefined || fields['_meta'] !== undefined ? fields : { ...fields, _meta }
    return this.#listenerOf(sessionId)?.onUpdate(whole)
  }

  #answer(request: IncomingRequest): Promise<unknown> {
    const { method, params } = request
    if (method !== 'session/request_permission') {
      throw new RpcError({ code: rpcCodes.methodNotFound, message: `Unknown method: ${method}` })
    }
    const asked = objectOf(params)
    const listener = this.#listenerOf(asked['sessionId'])
    if (listener === undefined) throw new RpcError({ code: rpcCodes.invalidParams, message: 'Unknown session' })
    return listener.onPermission(asked, request.signal)
  }

  #listenerOf(sessionId: unknown): AgentListener | undefined {
    return this.#listeners.get(textOf(sessionId) ?? '')
  }

  /** Logs a problem with the agent's output, at most `noiseLogLimit` times. */
  #reportNoise(excerpt: string): void {
    if (++this.#noise > noiseLogLimit) return
    this.#log.debug('An agent wrote something that is no message', { pid: this.pid, excerpt })
  }
}

function maskedError({ code, message, data }: RpcError, mask: (text: string) => string): RpcError {
  return new RpcError({ code, message: mask(message), data: maskJson(data, mask) })
}

function exitText(exit: ChildExit | 'late'): string {
  if (exit === 'late') return 'The agent closed its output'
  if (exit.code === null) return `The agent was ended by ${exit.signal ?? 'a signal'}`
  return `The agent exited with code ${exit.code}`
}
