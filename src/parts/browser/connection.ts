/**
 * The connection to the browser: the Chrome DevTools Protocol over a pipe. Each message is JSON text that ends with
 * NUL.
 *
 * The member `sessionId` names the page or frame of a message. A message for the browser itself has no `sessionId`.
 * Rules: https://chromedevtools.github.io/devtools-protocol/ (flat sessions).
 */
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonValue } from '../../base/json.ts'
import { RpcClosedError, RpcTimeoutError } from '../../rpc/errors.ts'
import { LineFraming } from '../../rpc/lines.ts'
import { PendingRequests } from '../../rpc/pending.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { numberOrZero, textOrEmpty } from './fields.ts'

export interface CdpEvent {
  readonly method: string
  readonly params: Fields
}

export type CdpListener = (event: CdpEvent) => void

export interface CdpOptions {
  readonly input: Readable
  readonly output: Writable
  /** The timeout of a command whose `CallOptions` have no timeout. */
  readonly timeoutMs: number
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** The longest message in bytes, and the most bytes that wait to be sent. */
const messageLimitBytes = 16 * 1024 * 1024
const openLimit = 1000

export class CdpConnection {
  readonly #framing: LineFraming
  readonly #pending = new PendingRequests({ limit: openLimit, onGivenUp: () => undefined })
  readonly #listeners = new Map<string, CdpListener>()
  readonly #timeoutMs: number
  #isClosed = false

  constructor({ input, output, timeoutMs }: CdpOptions) {
    this.#timeoutMs = timeoutMs
    const limits = { lineLimitBytes: messageLimitBytes, queueLimitBytes: messageLimitBytes }
    this.#framing = new LineFraming({ input, output, terminator: '\0', ...limits })
    this.#framing.start({
      onMessage: (message) => this.#take(objectOf(message)),
      onNoise: () => undefined,
      onClosed: (error) => this.#end(error),
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sets the listener for the events of a session, and replaces an earlier one. The browser's own session id is ''. */
  listen(sessionId: string, listener: CdpListener): void {
    this.#listeners.set(sessionId, listener)
  }

  forget(sessionId: string): void {
    this.#listeners.delete(sessionId)
  }

  /**
   * Sends a command and returns the result. @throws AppError `upstream_failed` when the browser refuses the command or
   * has ended, `upstream_timeout`; the signal's reason; RpcLimitError when too many commands or bytes wait
   */
  async call(
    sessionId: string, method: string, params: Readonly<Record<string, JsonValue>>, options: CallOptions,
  ): Promise<Fields> {
    const { signal, timeoutMs = this.#timeoutMs } = options
    try {
      return objectOf(await this.#pending.open({ method, timeoutMs, signal }, (id) => {
        const target = sessionId === '' ? {} : { sessionId }
        this.#framing.send({ id, method, params, ...target }).catch((error: unknown) => this.#pending.reject(id, error))
      }))
    } catch (thrown) {
      if (thrown instanceof RpcTimeoutError) {
        throw new AppError('upstream_timeout', `The browser did not answer within ${timeoutMs} ms (${method})`, {
          cause: thrown,
        })
      }
      if (thrown instanceof RpcClosedError) {
        throw new AppError('upstream_failed', 'The browser has ended', { cause: thrown })
      }
      throw thrown
    }
  }

  /** Closes the connection and rejects all commands that have no response yet. Idempotent. */
  close(): void {
    this.#framing.close()
    this.#end(undefined)
  }

  #take(message: Fields): void {
    if (typeof message['id'] !== 'number') {
      const event = { method: textOrEmpty(message['method']), params: objectOf(message['params']) }
      this.#listeners.get(textOrEmpty(message['sessionId']))?.(event)
      return
    }
    const { id, error } = message
    if (isObject(error)) {
      const why = `${textOrEmpty(error['message'])} (${numberOrZero(error['code'])})`
      this.#pending.reject(id, new AppError('upstream_failed', `The browser refused: ${why}`))
    } else {
      this.#pending.resolve(id, message['result'])
    }
  }

  #end(error: Error | undefined): void {
    this.#isClosed = true
    this.#pending.close(error)
    this.#listeners.clear()
  }
}

/** A session with the browser or one of its targets, such as a tab: sends commands to it and listens to its events. */
export class CdpSession {
  readonly id: string
  readonly #connection: CdpConnection

  constructor(connection: CdpConnection, id: string) {
    this.#connection = connection
    this.id = id
  }

  call(method: string, params: Readonly<Record<string, JsonValue>> = {}, options: CallOptions = {}): Promise<Fields> {
    return this.#connection.call(this.id, method, params, options)
  }

  /** Sends a command, returns at once, and ignores the result and any failure. */
  tell(method: string, params: Readonly<Record<string, JsonValue>> = {}): void {
    this.call(method, params).catch(() => undefined) // `tell` ignores every failure.
  }

  listen(listener: CdpListener): void {
    this.#connection.listen(this.id, listener)
  }

  forget(): void {
    this.#connection.forget(this.id)
  }

  /** Returns the session of another target on the same connection. */
  sibling(id: string): CdpSession {
    return new CdpSession(this.#connection, id)
  }
}
