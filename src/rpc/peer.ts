/**
 * One side of a JSON-RPC 2.0 connection: sends requests and notifications, and handles the peer's messages (JSON-RPC
 * 2.0, sections 4 and 5).
 *
 * Messages are handled in the order of arrival. Request handlers run concurrently. Broken messages of the peer are
 * reported to `onInvalid`.
 */
import { isObject } from '../base/json.ts'
import { RpcClosedError, RpcError, RpcLimitError, RpcProtocolError } from './errors.ts'
import { classifyMessage, rpcCodes } from './message.ts'
import type {
  RpcErrorResponse, RpcErrorObject, RpcId, RpcInvalid, RpcMessage, RpcNotification, RpcRequest, RpcRule,
} from './message.ts'
import { PendingRequests } from './pending.ts'

/** The layer that turns bytes into JSON values. It delivers values in order of arrival, and none while it is paused. */
export interface Framing {
  /** Sets the handlers and begins to deliver values to them. Called once. */
  start(handlers: FramingHandlers): void
  /**
   * Sends one value. Resolves when it is sent, or later: a framing over HTTP waits for the response to a request.
   * @throws (as a rejection) errors such as RpcLimitError when too many bytes wait, RpcClosedError after `close`
   */
  send(value: unknown): Promise<void>
  pause(): void
  resume(): void
  /**
   * Stops reading and delivery. Streams that were given to the framing stay open, for their owner to close. Connections
   * that the framing has opened are closed. Idempotent.
   */
  close(): void
}

export interface FramingHandlers {
  readonly onMessage: (value: unknown) => void
  /** Called for a line or message that nests too deep, or is neither JSON nor blank. `excerpt`: short, printable. */
  readonly onNoise: (excerpt: string) => void
  /** Called once when the stream ends; with an error if it failed or broke a limit. Not called after `close`. */
  readonly onClosed: (error: Error | undefined) => void
}

export interface IncomingCall {
  readonly method: string
  readonly params: unknown
}

export interface IncomingRequest extends IncomingCall {
  /** Aborts when the peer cancels the request or the connection ends. */
  readonly signal: AbortSignal
}

export interface RpcPeerOptions {
  readonly framing: Framing
  /**
   * Returns the result of a request. A thrown RpcError is sent as the response. Any other error is sent as -32800 if
   * the peer has cancelled the request, otherwise as -32603.
   */
  readonly onRequest?: (request: IncomingRequest) => unknown
  /** Handles a notification. Later messages wait until a returned promise settles. */
  readonly onNotification?: (notification: IncomingCall) => void | Promise<void>
  /** Called when a message breaks a rule, a response matches no open request, or a handler fails. */
  readonly onInvalid?: (what: RpcRule | 'unknown_id' | 'null_id' | 'handler_failed', detail: unknown) => void
  /** Called for a line or message that nests too deep, or is neither JSON nor blank. `excerpt`: short, printable. */
  readonly onNoise?: (excerpt: string) => void
  /** Called once when the connection ends, unless `close()` ends it. */
  readonly onClosed?: (error: Error | undefined) => void
  /** The method of the notification that cancels a request, in both directions. Default: no cancellation. */
  readonly cancelMethod?: string
  /** The time limit of a request without a `timeoutMs`. Default 120 s. */
  readonly timeoutMs?: number
  /** The most open requests, in each direction. Default 1,000. */
  readonly requestLimit?: number
}

export interface RequestOptions {
  /** When aborted, `request` rejects with the signal's reason. `onInvalid` then reports a late response. */
  readonly signal?: AbortSignal
  /** The time limit. Default: `RpcPeerOptions.timeoutMs`. `Infinity` means no limit. */
  readonly timeoutMs?: number
}

export class RpcPeer {
  readonly #options: RpcPeerOptions
  readonly #requestLimit: number
  readonly #pending: PendingRequests
  readonly #incoming = new Map<RpcId, CancellableRequest>()
  #turn: NodeJS.Immediate | undefined
  #closed = false

  constructor(options: RpcPeerOptions) {
    this.#options = options
    this.#requestLimit = options.requestLimit ?? 1000
    this.#pending = new PendingRequests({ limit: this.#requestLimit, onGivenUp: (id) => this.#sendCancel(id) })
    options.framing.start({
      onMessage: (value) => this.#take(classifyMessage(value)),
      onNoise: (excerpt) => options.onNoise?.(excerpt),
      onClosed: (error) => this.#onClosed(error),
    })
  }

  /**
   * Sends a request and returns the result.
   * @throws RpcError the peer's error; RpcTimeoutError, RpcClosedError, RpcLimitError, RpcProtocolError; or the
   * signal's reason.
   */
  request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 120_000
    return this.#pending.open({ method, timeoutMs, signal: options.signal }, (id) => {
      this.#options.framing
        .send({ jsonrpc: '2.0', id, method, params })
        .catch((error: unknown) => this.#pending.reject(id, error))
    })
  }

  /** Sends a notification; resolves when it is written. The promise may be ignored. */
  notify(method: string, params: unknown): Promise<void> {
    const sent = this.#options.framing.send({ jsonrpc: '2.0', method, params })
    sent.catch(ignore) // An unhandled rejection would end the process.
    return sent
  }

  /** Rejects pending requests with RpcClosedError, aborts the handlers' signals and closes the framing. Idempotent. */
  close(reason?: Error): void {
    if (this.#closed) return
    this.#closed = true
    clearImmediate(this.#turn)
    this.#options.framing.close()
    this.#pending.close(reason)
    const ended = new RpcClosedError('The connection closed')
    for (const request of this.#incoming.values()) request.cancel(ended)
    this.#incoming.clear()
  }

  #onClosed(error: Error | undefined): void {
    if (this.#closed) return
    this.close(error)
    this.#options.onClosed?.(error)
  }

  #take(message: RpcMessage): void {
    switch (message.kind) {
      case 'notification': return this.#takeNotification(message)
      case 'request': return this.#takeRequest(message)
      case 'result': return this.#settled(this.#pending.resolve(message.id, message.result), message.id)
      case 'error': return this.#takeError(message)
      case 'invalid': return this.#takeInvalid(message)
    }
  }

  #takeError({ id, error }: RpcErrorResponse): void {
    // The peer could not read a message, so the error names no request.
    if (id === null) return this.#options.onInvalid?.('null_id', error)
    this.#settled(this.#pending.reject(id, new RpcError(error)), id)
  }

  /** Lets the code that awaits the response run before the next message. Reports a response to an unknown request. */
  #settled(known: boolean, id: RpcId): void {
    if (!known) return this.#options.onInvalid?.('unknown_id', id)
    this.#options.framing.pause()
    this.#turn = setImmediate(() => this.#options.framing.resume())
  }

  #takeNotification({ method, params }: RpcNotification): void {
    if (method === this.#options.cancelMethod) return this.#cancelIncoming(params)
    try {
      const working = this.#options.onNotification?.({ method, params })
      if (working !== undefined) this.#waitFor(working)
    } catch (error) {
      this.#options.onInvalid?.('handler_failed', error)
    }
  }

  #waitFor(working: Promise<void>): void {
    this.#options.framing.pause()
    working
      .catch((error: unknown) => this.#options.onInvalid?.('handler_failed', error))
      .finally(() => this.#options.framing.resume())
  }

  #takeRequest({ id, method, params }: RpcRequest): void {
    if (this.#incoming.has(id)) {
      return this.#answerError(id, { code: rpcCodes.invalidRequest, message: 'A request with this id is open' })
    }
    if (this.#incoming.size >= this.#requestLimit) {
      return this.#answerError(id, { code: rpcCodes.internalError, message: 'Too many open requests' })
    }
    const request = new CancellableRequest(method, params)
    this.#incoming.set(id, request)
    void this.#handle(id, request)
  }

  async #handle(id: RpcId, request: CancellableRequest): Promise<void> {
    const { onRequest } = this.#options
    try {
      if (onRequest === undefined) throw new RpcError({ code: rpcCodes.methodNotFound, message: 'Method not found' })
      const result = await onRequest(request)
      this.#answer(id, { jsonrpc: '2.0', id, result: result ?? null })
    } catch (error) {
      this.#answerError(id, this.#errorFor(error, request.isCancelled))
    }
    if (this.#incoming.get(id) === request) this.#incoming.delete(id)
  }

  /** Returns the response's error: the content of a thrown RpcError, else `requestCancelled` or `internalError`. */
  #errorFor(error: unknown, isCancelled: boolean): RpcErrorObject {
    if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data }
    if (isCancelled) return { code: rpcCodes.requestCancelled, message: 'Request cancelled' }
    this.#options.onInvalid?.('handler_failed', error)
    return { code: rpcCodes.internalError, message: 'Internal error' }
  }

  #cancelIncoming(params: unknown): void {
    const id = isObject(params) ? params['requestId'] : undefined
    if (typeof id !== 'number' && typeof id !== 'string') return
    this.#incoming.get(id)?.cancel(new RpcError({ code: rpcCodes.requestCancelled, message: 'Request cancelled' }))
  }

  #sendCancel(id: number): void {
    if (this.#options.cancelMethod !== undefined) void this.notify(this.#options.cancelMethod, { requestId: id })
  }

  /** Reports an invalid message. A request with an id gets an error response. A response rejects its request. */
  #takeInvalid({ rule, calls, id }: RpcInvalid): void {
    this.#options.onInvalid?.(rule, id)
    if (id === undefined || id === null) return
    if (calls) return this.#answerError(id, { code: rpcCodes.invalidRequest, message: 'Invalid request' })
    this.#pending.reject(id, new RpcProtocolError(`The answer breaks a rule of JSON-RPC: ${rule}`))
  }

  #answerError(id: RpcId, error: RpcErrorObject): void {
    this.#answer(id, { jsonrpc: '2.0', id, error })
  }

  #answer(id: RpcId, response: object): void {
    if (this.#closed) return
    this.#options.framing.send(response).catch((error: unknown) => {
      if (error instanceof RpcClosedError) return
      // Ends the connection: the peer would wait for ever for this response, which cannot be queued.
      if (error instanceof RpcLimitError) return this.#onClosed(error)
      this.#options.onInvalid?.('handler_failed', error)
      this.#answerError(id, { code: rpcCodes.internalError, message: 'Internal error' })
    })
  }
}

/** A request that makes its signal on first use, because making a signal is slow. */
class CancellableRequest implements IncomingRequest {
  readonly method: string
  readonly params: unknown
  #reason: RpcError | RpcClosedError | undefined
  #controller: AbortController | undefined

  constructor(method: string, params: unknown) {
    this.method = method
    this.params = params
  }

  get isCancelled(): boolean {
    return this.#reason !== undefined
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  cancel(reason: RpcError | RpcClosedError): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
  }
}

function ignore(): void {}
