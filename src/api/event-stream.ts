/**
 * `GET .../events/stream`: one conversation as server-sent events (WHATWG HTML section 9.2, decisions 35).
 *
 * The twin of `event-socket`, for clients behind proxies that know no WebSocket: the same frames in the same order, each
 * as the `data` of one event. A stored event's `id` is its own, so a client that comes back with `Last-Event-ID` goes on
 * behind it, without a gap or a double; frames that exist on live streams only have none. A comment goes out whenever
 * nothing else does for a while. A client that is full is not written to; one that takes no byte for too long is cut off.
 */
import type { ServerResponse } from 'node:http'
import { AppError, messageOf } from '../base/errors.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { FeedEnd, Reader, Sink } from '../conversation/feed.ts'
import { errorFrame } from '../conversation/frames.ts'
import { idOf } from '../conversation/history.ts'
import { singleHeader } from '../http/headers.ts'
import type { Answer } from '../http/reply.ts'
import { conversationIdOf, queryOf, type Call } from './call.ts'
import type { ConversationParts } from './conversations.ts'
import { resendFields, resendOf, startOf, type Resend } from './resend.ts'

export interface StreamRules {
  /** A comment goes out after this time without anything else. */
  readonly heartbeatMs: number
  /** A client that takes nothing for this time is cut off. */
  readonly stallTimeoutMs: number
}

export interface StreamParts extends ConversationParts {
  readonly stream: StreamRules
}

/** How long a browser waits before it comes back. */
const retryMs = 1000

/** @throws AppError `not_found` for an unknown conversation or event */
export async function streamEvents({ service, stream }: StreamParts, call: Call): Promise<Answer> {
  const resend = resendFrom(call)
  const conversation = await service.open(conversationIdOf(call))
  const from = await startOf(conversation, resend)
  if (from === undefined) throw new AppError('not_found', 'The event to continue after is not in this conversation')
  return {
    status: 200,
    type: 'text/event-stream',
    // For nginx, which would otherwise collect the answer.
    headers: ['X-Accel-Buffering', 'no'],
    stream: (response) => new EventStream(response, stream).join(conversation, from),
  }
}

/** The header that a browser sends when it comes back is newer than the address it was given. */
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

  constructor(response: ServerResponse, rules: StreamRules) {
    this.#response = response
    this.#rules = rules
    this.#heartbeat = setInterval(() => this.write(comment), rules.heartbeatMs)
    response.on('drain', () => this.#drained())
    response.once('close', () => this.#close())
  }

  join(conversation: Conversation, from: number | 'now'): void {
    this.#response.write(`retry: ${retryMs}\n\n`)
    try {
      this.#reader = conversation.join({ from, encode: encodeEvent, sink: this })
    } catch (thrown) {
      // Too many readers, mostly. The head is out, so it is told as on a socket.
      const code = thrown instanceof AppError ? thrown.code : 'internal'
      this.write(encodeEvent(errorFrame(code, messageOf(thrown), conversation.nextFrameStamp()), false))
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

  end(reason: FeedEnd): void {
    if (reason === 'failed') this.#response.destroy()
    else this.#response.end()
  }

  #drained(): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#reader?.drained()
  }

  /** A client is slow as long as it takes something, and stalled when it has taken nothing for the whole time. */
  #watchStall(): void {
    if (this.#stall !== undefined) return
    const before = this.#taken()
    this.#stall = setTimeout(() => {
      this.#stall = undefined
      if (this.#taken() === before) this.#response.destroy()
      else this.#watchStall()
    }, this.#rules.stallTimeoutMs)
  }

  /** Bytes that the system has taken over for the client. */
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

/** JSON that this server prints is one line. */
function encodeEvent(json: Buffer, isStored: boolean): Buffer {
  const parts = [dataField, json, eventEnd]
  return Buffer.concat(isStored ? [Buffer.from(`id: ${idOf(json)}\n`), ...parts] : parts)
}
