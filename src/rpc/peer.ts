/**
 * One side of a JSON-RPC 2.0 connection: sends requests and notifications, answers those of the other side.
 *
 * Messages take effect in the order of arrival. A notification handler that returns a promise holds back everything
 * after it, and so the reading of the stream: that is the flow control. After an answer has settled a request, the
 * code that awaits it runs before the next message is read. Only request handlers run concurrently, and each request
 * is answered exactly once. Nothing here throws, whatever the other side sends: broken messages are reported to
 * `onInvalid`. Rules: JSON-RPC 2.0, sections 4 and 5; cancellation as in ACP and MCP, by a notification with a
 * `requestId`.
 */
import { isObject } from '../base/json.ts'
import { RpcClosedError, RpcError, RpcLimitError, RpcProtocolError } from './errors.ts'
import { classifyMessage, rpcCodes } from './message.ts'
import type {
  RpcErrorResponse, RpcErrorObject, RpcId, RpcInvalid, RpcMessage, RpcNotification, RpcRequest, RpcRule,
} from './message.ts'
import { PendingRequests } from './pending.ts'

/**
 * The layer that turns bytes into JSON values, as the peer needs it. Values come one at a time, in order of arrival,
 * and none while the framing is paused, even if one read brought several.
 */
export interface Framing {
  /** Begins to read; called once. */
  start(handlers: FramingHandlers): void
  /**
   * Writes one value; resolves when the operating system has taken it.
   * @throws RpcLimitError (as a rejection) when too much is waiting, RpcClosedError when the framing is closed.
   */
  send(value: unknown): Promise<void>
  pause(): void
  resume(): void
  /** Stops reading and delivery. The streams stay open, for their owner to close. Idempotent. */
  close(): void
}

export interface FramingHandlers {
  readonly onMessage: (value: unknown) => void
  /** Called for each line that is not JSON; `excerpt` is short and printable. */
  readonly onNoise: (excerpt: string) => void
  /** Called once, after the last value, when the other side has gone, in order or with an error. Not after `close`. */
  readonly onClosed: (error: Error | undefined) => void
}

export interface IncomingCall {
  readonly method: string
  readonly params: unknown
}

export interface IncomingRequest extends IncomingCall {
  /** Aborted when the other side cancels the request or the connection ends. */
  readonly signal: AbortSignal
}

export interface RpcPeerOptions {
  readonly framing: Framing
  /** Returns the result to answer with. A thrown RpcError is the answer; any other thrown value answers -32603. */
  readonly onRequest?: (request: IncomingRequest) => unknown
  /** A returned promise holds back the messages after this one. */
  readonly onNotification?: (notification: IncomingCall) => void | Promise<void>
  /** Called when a message breaks a rule, an answer matches no request, or a handler fails. */
  readonly onInvalid?: (what: RpcRule | 'unknown_id' | 'null_id' | 'handler_failed', detail: unknown) => void
  /** Called for each line that is not JSON, with a short, printable excerpt. */
  readonly onNoise?: (excerpt: string) => void
  /** Called once when the connection ends, but not by `close()`. */
  readonly onClosed?: (error: Error | undefined) => void
  /** The notification that cancels a request, in both directions; without it there is no cancellation. */
  readonly cancelMethod?: string
  /** The time limit of a request that names none. Default 120 s. */
  readonly timeoutMs?: number
  /** The most open requests, in each direction. Default 1,000. */
  readonly requestLimit?: number
}

export interface RequestOptions {
  /** Its abort gives the request up: the request fails with the signal's reason, and a late answer is ignored. */
  readonly signal?: AbortSignal
  /** The time limit. Default: that of the peer. `Infinity` leaves only the signal and the connection's end. */
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
    sent.catch(ignore)
    return sent
  }

  /** Rejects pending requests with RpcClosedError and aborts running handlers. Idempotent; the streams stay open. */
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
    // The other side could not read a message and does not know its id: no request can be matched.
    if (id === null) return this.#options.onInvalid?.('null_id', error)
    this.#settled(this.#pending.reject(id, new RpcError(error)), id)
  }

  /** Lets the code that awaits an answer run before the next message is delivered. */
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
      this.#answer(id, { result: result ?? null })
    } catch (error) {
      this.#answerError(id, this.#errorFor(error, request.isCancelled))
    }
    if (this.#incoming.get(id) === request) this.#incoming.delete(id)
  }

  /** Returns the error to answer with: an RpcError as it is; for another error a general text, without its message. */
  #errorFor(error: unknown, isCancelled: boolean): RpcErrorObject {
    if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data }
    if (isCancelled) return { code: rpcCodes.requestCancelled, message: 'Request cancelled' }
    this.#options.onInvalid?.('handler_failed', error)
    return { code: rpcCodes.internalError, message: 'Internal error' }
  }

  #cancelIncoming(params: unknown): void {
    const id = isObject(params) ? params.requestId : undefined
    if (typeof id !== 'number' && typeof id !== 'string') return
    this.#incoming.get(id)?.cancel(new RpcError({ code: rpcCodes.requestCancelled, message: 'Request cancelled' }))
  }

  #sendCancel(id: number): void {
    if (this.#options.cancelMethod !== undefined) void this.notify(this.#options.cancelMethod, { requestId: id })
  }

  /** Handles a broken message: an answer ends the request that it names, a request is answered, others are dropped. */
  #takeInvalid({ rule, calls, id }: RpcInvalid): void {
    this.#options.onInvalid?.(rule, id)
    if (id === undefined || id === null) return
    if (calls) return this.#answerError(id, { code: rpcCodes.invalidRequest, message: 'Invalid request' })
    this.#pending.reject(id, new RpcProtocolError(`The answer breaks a rule of JSON-RPC: ${rule}`))
  }

  #answerError(id: RpcId, error: RpcErrorObject): void {
    this.#answer(id, { error })
  }

  #answer(id: RpcId, outcome: { result: unknown } | { error: RpcErrorObject }): void {
    if (this.#closed) return
    this.#options.framing.send({ jsonrpc: '2.0', id, ...outcome }).catch((error: unknown) => {
      if (error instanceof RpcClosedError) return
      // An answer that cannot be queued ends the connection: the other side would wait for it for ever.
      if (error instanceof RpcLimitError) return this.#onClosed(error)
      this.#options.onInvalid?.('handler_failed', error)
      this.#answerError(id, { code: rpcCodes.internalError, message: 'Internal error' })
    })
  }
}

/** A request whose signal is made on demand: few handlers use the signal, and to make it takes longer than all else. */
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
