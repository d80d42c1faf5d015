/**
 * HTTP with server-sent events, the transport of MCP 2024-11-05: one event stream for all messages of the server.
 *
 * The event `endpoint` names the address for the client's messages. That address must have the origin of the stream's
 * address, because credentials are sent to it. The end of the stream ends the session.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { deferred, untilAborted } from '../../base/wait.ts'
import { EventParser } from '../net/event-stream.ts'
import { RpcClosedError } from '../../rpc/errors.ts'
import type { Framing, FramingHandlers } from '../../rpc/peer.ts'
import { objectOf } from '../../base/fields.ts'
import type { HttpTransportOptions } from './http-transport.ts'
import { Inbox } from './inbox.ts'
import { openAuthorized } from './oauth/authorized.ts'
import { isSuccess, refusalOf } from './refusal.ts'
import { usualMessageLimits, type MessageLimits, type Transport } from './transport.ts'

const connectTimeoutMs = 30_000
const postTimeoutMs = 60_000
/** Node's longest timer, in milliseconds (about 25 days): the time limit of a whole event stream. */
const longestMs = 2 ** 31 - 1

export class SseTransport implements Transport, Framing {
  readonly framing = this
  readonly #options: HttpTransportOptions
  readonly #limits: MessageLimits
  readonly #inbox: Inbox
  readonly #stop = new AbortController()
  readonly #endpoint = deferred<URL>()

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#limits = options.limits ?? usualMessageLimits
    this.#inbox = new Inbox(this.#limits.valueLimit)
    // Prevents an unhandled rejection when the stream ends early and nothing was sent.
    this.#endpoint.promise.catch(() => undefined)
  }

  start(handlers: FramingHandlers): void {
    this.#inbox.start(handlers)
    void this.#listen().then(() => this.#end(undefined), (error: unknown) => this.#end(error))
  }

  async send(message: unknown): Promise<void> {
    try {
      await this.#post(message)
    } catch (error) {
      // A message without a method is a response. After an RpcClosedError the JSON-RPC peer sends no error response.
      throw objectOf(message)['method'] === undefined
        ? new RpcClosedError('The answer could not be sent', { cause: error })
        : error
    }
  }

  pause(): void {
    this.#inbox.pause()
  }

  resume(): void {
    this.#inbox.resume()
  }

  agree(): void {}

  async reasonOfEnd(): Promise<undefined> {}

  async close(): Promise<void> {
    this.#stop.abort(new RpcClosedError('The connection closed'))
    this.#inbox.close()
  }

  async #listen(): Promise<void> {
    const { url, headers, silenceMs, bearer } = this.#options
    const { signal } = this.#stop
    const limits = { limitBytes: Infinity, timeoutMs: longestMs, idleTimeoutMs: silenceMs, connectTimeoutMs }
    const request = { method: 'GET', url, headers: { ...headers, accept: 'text/event-stream' }, signal, ...limits }
    const stream = await openAuthorized(request, bearer)
    if (!isSuccess(stream)) throw await refusalOf(stream)
    const parser = new EventParser({ limitChars: this.#limits.limitBytes })
    for await (const chunk of stream.chunks) {
      for (const { type, data } of parser.push(chunk)) {
        if (type === 'endpoint') this.#endpoint.resolve(endpointFrom(url, data))
        else if (type === 'message') await this.#inbox.put(data, undefined)
      }
    }
  }

  async #post(message: unknown): Promise<void> {
    const { signal } = this.#stop
    const url = await untilAborted(this.#endpoint.promise, signal)
    const headers = { ...this.#options.headers, 'content-type': 'application/json' }
    const body = JSON.stringify(message)
    const request = {
      method: 'POST',
      url,
      headers,
      body,
      signal,
      limitBytes: this.#limits.limitBytes,
      timeoutMs: postTimeoutMs,
    }
    const stream = await openAuthorized(request, this.#options.bearer)
    if (!isSuccess(stream)) throw await refusalOf(stream)
    stream.close()
  }

  #end(thrown: unknown): void {
    const error = thrown === undefined || thrown instanceof Error ? thrown : new Error(messageOf(thrown))
    this.#endpoint.reject(error ?? new RpcClosedError('The server ended the event stream'))
    this.#inbox.end(error)
  }
}

function endpointFrom(base: string, text: string): URL {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined
  if (url !== undefined && url.origin === new URL(base).origin) return url
  throw new AppError('upstream_failed', 'The server named an address for messages that is not of its own origin')
}
