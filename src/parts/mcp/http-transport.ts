/**
 * Streamable HTTP (MCP 2025-06-18, transports): the client sends each message as a POST. The server answers a request
 * with JSON or an event stream.
 *
 * A GET receives the messages that the server sends on its own, or resumes an interrupted stream. A stream can be
 * resumed if its events have ids.
 */
import { AppError } from '../../base/errors.ts'
import { sleep } from '../../base/wait.ts'
import { EventParser } from '../net/event-stream.ts'
import type { OutboundStream } from '../net/outbound.ts'
import { RpcClosedError } from '../../rpc/errors.ts'
import type { Framing, FramingHandlers } from '../../rpc/peer.ts'
import { objectOf } from '../../base/fields.ts'
import { Inbox } from './inbox.ts'
import { openAuthorized } from './oauth/authorized.ts'
import type { Bearer } from './oauth/logins.ts'
import { isSuccess, refusalOf } from './refusal.ts'
import { SessionLostError, usualMessageLimits, type MessageLimits, type Transport } from './transport.ts'

export interface HttpTransportOptions {
  readonly url: string
  /** Request headers, including credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The source of the bearer token; undefined for a server without a sign-in. */
  readonly bearer?: Bearer | undefined
  /** The longest silence of a response, in milliseconds. */
  readonly silenceMs: number
  /** Called when the stream for the server's own messages begins without `Last-Event-ID`: messages may be lost. */
  readonly onGap?: () => void
  /**
   * The wait in milliseconds before a stream is reopened. This time doubles after each failure. A server can set
   * another time. Default 1000.
   */
  readonly retryMs?: number
  readonly limits?: MessageLimits | undefined
}

/** The outcome of `#read`: whether the response has arrived, and the values with which the stream can be resumed. */
interface StreamPart {
  readonly isAnswered: boolean
  readonly lastEventId: string
  readonly retryMs: number | undefined
}

const connectTimeoutMs = 30_000
const deleteTimeoutMs = 2000
const retryLimit = 5
const redirectLimit = 3
/** A stream that lasts longer than this time, in milliseconds, resets the count of failures of `#listen`. */
const steadyMs = 30_000
/** Node's longest timer, in milliseconds. In effect no time limit: callers set their own limits. */
const longestMs = 2 ** 31 - 1

export class HttpTransport implements Transport, Framing {
  readonly framing = this
  readonly #options: HttpTransportOptions
  readonly #retryMs: number
  readonly #limits: MessageLimits
  readonly #inbox: Inbox
  readonly #stop = new AbortController()
  /** Abort controllers of unanswered requests, by request id. */
  readonly #asked = new Map<unknown, AbortController>()
  #session: string | undefined
  #version: string | undefined
  #closing: Promise<void> | undefined

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#retryMs = options.retryMs ?? 1000
    this.#limits = options.limits ?? usualMessageLimits
    this.#inbox = new Inbox(this.#limits.valueLimit)
  }

  start(handlers: FramingHandlers): void {
    this.#inbox.start(handlers)
  }

  async send(message: unknown): Promise<void> {
    const { id, method, params } = objectOf(message)
    if (method !== undefined && id !== undefined) return this.#ask(message, id)
    if (method === 'notifications/cancelled') this.#asked.get(objectOf(params)['requestId'])?.abort()
    await this.#tell(message).catch((error: unknown) => {
      throw method === undefined ? new RpcClosedError('The answer could not be sent', { cause: error }) : error
    })
    if (method === 'notifications/initialized') void this.#listen().catch(ignore) // Requests work without `#listen`.
  }

  pause(): void {
    this.#inbox.pause()
  }

  resume(): void {
    this.#inbox.resume()
  }

  agree(version: string): void {
    this.#version = version
  }

  async reasonOfEnd(): Promise<undefined> {}

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const closed = new RpcClosedError('The connection closed')
    for (const left of this.#asked.values()) left.abort(closed)
    this.#stop.abort(closed)
    this.#inbox.close()
    if (this.#session === undefined) return
    const { url, bearer } = this.#options
    const limits = {
      limitBytes: this.#limits.limitBytes,
      timeoutMs: deleteTimeoutMs,
      signal: AbortSignal.timeout(deleteTimeoutMs),
    }
    // A server may refuse the DELETE (405).
    const stream = await openAuthorized({ method: 'DELETE', url, headers: this.#headers(), ...limits }, bearer).catch(
      ignore,
    )
    stream?.close()
  }

  /** Sends a request. Resolves when its response was passed to the JSON-RPC peer. */
  async #ask(message: unknown, id: unknown): Promise<void> {
    this.#stop.signal.throwIfAborted()
    const left = new AbortController()
    const { signal } = left
    this.#asked.set(id, left)
    try {
      let part = await this.#read(await this.#post(message, signal), signal, id)
      for (let tries = 0; !part.isAnswered && part.lastEventId !== '' && tries < retryLimit; tries++) {
        await sleep(part.retryMs ?? this.#retryMs * 2 ** tries, signal)
        part = await this.#read(await this.#get(part.lastEventId, signal), signal, id, part.lastEventId)
      }
      if (!part.isAnswered) throw new RpcClosedError('The server ended its answer before the result')
    } finally {
      this.#asked.delete(id)
    }
  }

  async #tell(message: unknown): Promise<void> {
    const stream = await this.#post(message, this.#stop.signal)
    stream.close()
  }

  /**
   * Receives the messages that the server sends on its own. Stops when a GET fails, or when several streams in
   * a row (`retryLimit`) end within `steadyMs` without a new event id.
   */
  async #listen(): Promise<void> {
    const { signal } = this.#stop
    let lastEventId = ''
    for (let failures = 0; failures < retryLimit; failures++) {
      const start = performance.now()
      const stream = await this.#get(lastEventId, signal)
      if (lastEventId === '') this.#options.onGap?.()
      const reading = this.#read(stream, signal, undefined, lastEventId)
      const part = await reading.catch(ignore) // An error counts as a failure.
      const isNew = part?.lastEventId !== undefined && part.lastEventId !== lastEventId
      if (performance.now() - start > steadyMs || isNew) {
        failures = 0
      }
      lastEventId = part?.lastEventId ?? lastEventId
      await sleep(part?.retryMs ?? this.#retryMs * 2 ** failures, signal)
    }
  }

  async #post(message: unknown, signal: AbortSignal): Promise<OutboundStream> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const stream = await this.#open('POST', headers, signal, JSON.stringify(message))
    if (!isSuccess(stream)) throw await this.#refused(stream)
    const session = stream.headers['mcp-session-id']
    if (this.#version === undefined && typeof session === 'string') this.#session = session
    return stream
  }

  async #get(lastEventId: string, signal: AbortSignal): Promise<OutboundStream> {
    const place: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
    const stream = await this.#open('GET', { accept: 'text/event-stream', ...place }, signal)
    if (!isSuccess(stream)) throw await refusalOf(stream)
    return stream
  }

  async #open(
    method: string, own: Readonly<Record<string, string>>, signal: AbortSignal, body = '',
  ): Promise<OutboundStream> {
    const { url, silenceMs, bearer } = this.#options
    const headers = { ...this.#headers(), ...own }
    const limits = {
      limitBytes: Infinity,
      timeoutMs: longestMs,
      idleTimeoutMs: silenceMs,
      connectTimeoutMs,
      redirectLimit,
    }
    try {
      return await openAuthorized({ method, url, headers, body, signal, ...limits }, bearer)
    } catch (error) {
      // A failed GET and a timeout do not end the connection: other requests may still work.
      if (method === 'POST' && error instanceof AppError && error.code !== 'upstream_timeout') this.#inbox.end(error)
      throw error
    }
  }

  /** Returns the request headers. Headers of this transport replace headers of the settings. */
  #headers(): Record<string, string> {
    const headers = new Map(Object.entries(this.#options.headers).map(([name, value]) => [name.toLowerCase(), value]))
    if (this.#session !== undefined) headers.set('mcp-session-id', this.#session)
    if (this.#version !== undefined) headers.set('mcp-protocol-version', this.#version)
    return Object.fromEntries(headers)
  }

  /**
   * Returns the error for a refused POST, and ends the connection if the session is lost. Some servers use 400 for an
   * unknown session.
   */
  async #refused(stream: OutboundStream): Promise<Error> {
    const error = await refusalOf(stream)
    if (this.#session === undefined || stream.status !== 404 && stream.status !== 400) return error
    const lost = stream.status === 404 ? new SessionLostError('The server has forgotten the session') : error
    this.#session = undefined
    this.#inbox.end(lost)
    return lost
  }

  /**
   * Reads a stream until the response to the request `id` has arrived, or the stream ends. Also returns when the stream
   * breaks, if it can be resumed. `lastEventId`: the place at which this stream resumes an earlier stream.
   * @throws the error of an interrupted stream that cannot be resumed; AppError for a body that is too long, or neither
   * JSON nor an event stream
   */
  async #read(stream: OutboundStream, signal: AbortSignal, id: unknown, lastEventId = ''): Promise<StreamPart> {
    const type = stream.headers['content-type'] ?? ''
    if (/\bjson\b/.test(type)) {
      return {
        isAnswered: await this.#inbox.put(await wholeText(stream, this.#limits.limitBytes), id),
        lastEventId: '',
        retryMs: undefined,
      }
    }
    if (!type.includes('text/event-stream')) {
      stream.close()
      throw new AppError(
        'upstream_failed',
        `The server answered with ${type === '' ? 'nothing' : `"${type.slice(0, 100)}"`}, ` +
        'expected JSON or an event stream',
      )
    }
    const parser = new EventParser({ limitChars: this.#limits.limitBytes, lastEventId })
    let isAnswered = false
    try {
      for await (const chunk of stream.chunks) {
        for (const { data } of parser.push(chunk)) {
          isAnswered = (data !== '' && (await this.#inbox.put(data, id))) || isAnswered
        }
        if (isAnswered) break
      }
    } catch (error) {
      if (signal.aborted || parser.lastEventId === '') throw error
    }
    return { isAnswered, lastEventId: parser.lastEventId, retryMs: parser.retryMs }
  }
}

async function wholeText(stream: OutboundStream, limitBytes: number): Promise<string> {
  const parts: Buffer[] = []
  let left = limitBytes
  for await (const chunk of stream.chunks) {
    left -= chunk.length
    if (left < 0) throw new AppError('upstream_failed', `The server answered with more than ${limitBytes} bytes`)
    parts.push(chunk)
  }
  return Buffer.concat(parts).toString()
}

function ignore(): undefined {}
