/**
 * `GET .../events/stream`: serves one conversation as server-sent events (WHATWG HTML section 9.2, decisions 35), for
 * clients that cannot use a WebSocket.
 *
 * The client gets the state, stored events and live events as on `event-socket`. The field `id` of a stored event is
 * the event's id. A client that reconnects with `Last-Event-ID` continues after this event.
 */
import type { ServerResponse } from 'node:http'
import { AppError, messageOf } from '../base/errors.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { FeedEnd, Reader, Sink } from '../conversation/log/feed.ts'
import { idOf } from '../conversation/log/event-reader.ts'
import { singleHeader } from '../http/headers.ts'
import type { HttpResponse } from '../http/reply.ts'
import { conversationIdOf, queryOf, type Call } from './call.ts'
import type { ConversationParts } from './conversations.ts'
import { resendFields, resendOf, startOf, type Resend } from './resend.ts'

export interface StreamRules {
  /** The time without data after which a comment is sent, so that the connection does not look dead. */
  readonly heartbeatMs: number
  /** A client is disconnected if the response's buffer is full and the client takes no byte for this time. */
  readonly stallTimeoutMs: number
}

export interface StreamParts extends ConversationParts {
  readonly stream: StreamRules
}

/** The time that a browser waits before it reconnects. */
const retryMs = 1000

/**
 * Responds with a stream of events.
 * @throws AppError `not_found`, `invalid_input`; the errors of `ConversationService.open`
 */
export async function streamEvents({ service, stream }: StreamParts, call: Call): Promise<HttpResponse> {
  const resend = resendFrom(call)
  const conversation = await service.open(conversationIdOf(call))
  const from = await startOf(conversation, resend)
  if (from === undefined) throw new AppError('not_found', 'The event to continue after is not in this conversation')
  return {
    status: 200,
    type: 'text/event-stream',
    // Without this header nginx would buffer the response.
    headers: ['X-Accel-Buffering', 'no'],
    stream: (response) => new EventStream(response, stream).join(conversation, from),
  }
}

/**
 * Returns which stored events to send. A browser reconnects with its first query, so `Last-Event-ID` has precedence.
 */
function resendFrom(call: Call): Resend {
  const last = singleHeader(call.exchange.request.rawHeaders, 'last-event-id')
  const asked = resendOf(queryOf(call, resendFields))
  return last === undefined || last === '' ? asked : { mode: 'after', eventId: last }
}

class EventStream implements Sink {
  readonly #response: ServerResponse
  readonly #rules: StreamRules
  readonly #heartbeat: NodeJS.Timeout
  #stall: NodeJS.Timeout | undefined
  #reader: Reader | undefined
  #conversation: Conversation | undefined

  constructor(response: ServerResponse, rules: StreamRules) {
    this.#response = response
    this.#rules = rules
    this.#heartbeat = setInterval(() => this.write(comment), rules.heartbeatMs)
    response.on('drain', () => this.#drained())
    response.once('close', () => this.#close())
  }

  join(conversation: Conversation, from: number | 'now'): void {
    this.#conversation = conversation
    this.#response.write(`retry: ${retryMs}\n\n`)
    this.#tellPlace(from === 'now' ? conversation.events.eventCount : from)
    try {
      this.#reader = conversation.join({ from, encode: encodeEvent, sink: this })
    } catch (thrown) {
      // The status line was sent already, so the error is sent as an event.
      const code = thrown instanceof AppError ? thrown.code : 'internal'
      this.write(encodeEvent(conversation.frames.error(code, messageOf(thrown)), false))
      this.#response.end()
    }
    if (this.#response.destroyed) this.#close()
  }

  write(encoded: Buffer): boolean {
    if (this.#response.writableNeedDrain) {
      this.#watchStall()
      return false
    }
    this.#response.write(encoded)
    this.#heartbeat.refresh()
    return true
  }

  end(reason: FeedEnd, next: number): void {
    if (reason === 'failed') return void this.#response.destroy()
    if (reason === 'closed') this.#tellPlace(next)
    this.#response.end(reason === 'closed' ? `: The server ends\nretry: ${retryMs}\n\n` : '')
  }

  /** Sends the id of event number `next` - 1, if it is in memory. A browser returns the id in `Last-Event-ID`. */
  #tellPlace(next: number): void {
    const last = this.#conversation?.events.idInMemory(next - 1)
    if (last !== undefined) this.#response.write(`id: ${last}\n\n`)
  }

  #drained(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#reader?.drained()
  }

  /** Disconnects a client that takes no byte for `stallTimeoutMs`. */
  #watchStall(): void {
    if (this.#stall !== undefined) return
    const before = this.#taken()
    this.#stall = setTimeout(() => {
      this.#stall = undefined
      if (this.#taken() === before) this.#response.destroy()
      else this.#watchStall()
    }, this.#rules.stallTimeoutMs)
  }

  /** Returns how many bytes the operating system has accepted for the client. */
  #taken(): number {
    const { socket } = this.#response
    return socket === null ? 0 : socket.bytesWritten - socket.writableLength
  }

  #close(): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#stall)
    this.#reader?.close()
  }
}

const comment = Buffer.from(':\n\n')
const dataField = Buffer.from('data: ')
const eventEnd = Buffer.from('\n\n')

/**
 * Encodes an event or another frame as a server-sent event. Only a stored event gets the field `id`. The JSON has no
 * line breaks, so one `data` field is enough.
 */
function encodeEvent(json: Buffer, isStored: boolean): Buffer {
  const parts = [dataField, json, eventEnd]
  return Buffer.concat(isStored ? [Buffer.from(`id: ${idOf(json)}\n`), ...parts] : parts)
}
