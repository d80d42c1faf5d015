/**
 * `/sockets/events/{conversation_id}`: serves one conversation on one WebSocket (contract/websocket.md, section 2;
 * decisions 35).
 *
 * The client gets `full_state`, then the stored events that it requested, then live events. Each client frame is a
 * Message, which the agent works on, or an AuthFrame, which is ignored. A failed frame gets a ServerErrorEvent, and the
 * socket stays open.
 */
import { errorOf, messageOf, AppError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { failureOf } from '../conversation/log/failure.ts'
import type { ConversationService } from '../conversation/list/service.ts'
import type { FeedEnd, Reader, Sink } from '../conversation/log/feed.ts'
import type { Principal } from '../http/principal.ts'
import type { Trail } from '../http/trail.ts'
import { Message } from '../schema/generated/values.ts'
import { encodeCompressedText } from '../ws/deflate.ts'
import { encodeText, encodeTexts } from '../ws/frame.ts'
import type { Message as WebSocketMessage } from '../ws/assembler.ts'
import type { ConnectionOwner, WebSocketConnection } from '../ws/connection.ts'
import { contentLimit } from '../schema/spec/values.ts'
import { userMessageOf } from '../conversation/log/user-message.ts'
import { recorded, type SocketMessage } from './deed.ts'
import { assertRight, filterFor, hidden } from './permission.ts'
import { startOf, type Resend } from './resend.ts'
import { isAuthFrame } from './socket-auth.ts'
import { checkedFrame, frameErrorOf, parseFrame, type FrameError } from './socket-error.ts'

/** The settings and services that all event sockets of a server share. */
export interface EventSocketRules {
  readonly trail: Trail
  readonly service: ConversationService
  readonly messageLimitBytes: number
  /** The most JSON values in a message. */
  readonly valueLimit: number
  readonly log: Log
  /** Returns why the server accepts no message; undefined while it accepts messages. */
  readonly endingBecause: () => string | undefined
}

/** A client, with the conversation and the stored events that it requests. */
export interface Subscription {
  readonly conversationId: string
  readonly principal: Principal
  readonly address: string | undefined
  readonly resend: Resend
}

/** The close codes that this file sends. 4004 and 4010 are private, the others are in IANA's registry (RFC 6455). */
const closeCodes = {
  serviceRestart: 1012,
  internalError: 1011,
  tryAgainLater: 1013,
  notFound: 4004,
  unknownEvent: 4010,
} as const

/** The close codes for a client that broke a rule (`ws/violation`). Such a close is logged (RFC 6455, 7.1.7). */
const brokenRuleCodes: ReadonlySet<number> = new Set([1002, 1007, 1009])

/**
 * Serves a connection until it closes. Call it at once when the connection has opened, or when its first frame has
 * authenticated the client: a later call could miss frames.
 */
export function serveEventSocket(
  connection: WebSocketConnection,
  subscription: Subscription,
  rules: EventSocketRules,
): void {
  void new EventSocket(connection, rules).start(subscription)
}

class EventSocket implements Sink, ConnectionOwner {
  readonly #connection: WebSocketConnection
  readonly #rules: EventSocketRules
  #conversation: Conversation | undefined
  /** The client, whose right is checked for each message it sends; undefined until the conversation is open. */
  #client: SocketMessage | undefined
  #reader: Reader | undefined

  constructor(connection: WebSocketConnection, rules: EventSocketRules) {
    this.#connection = connection
    this.#rules = rules
  }

  /** Joins the conversation, then reads frames. Closes the connection when the conversation cannot be joined. */
  async start(subscription: Subscription): Promise<void> {
    const { conversationId, resend, principal, address } = subscription
    const connection = this.#connection
    const { service, messageLimitBytes } = this.#rules
    connection.maxMessageBytes = messageLimitBytes
    connection.owner = this
    connection.pause()
    try {
      if (filterFor(principal, service.hasTag)?.(conversationId) === false) throw hidden(conversationId)
      this.#conversation = await service.open(conversationId)
      // `conversationId` is not kept: it is a slice of the request's URL, so V8 would keep the whole URL in memory.
      this.#client = { conversationId: this.#conversation.id, principal, address }
      await this.#join(this.#conversation, resend)
      connection.resume()
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  onMessage(message: WebSocketMessage): void {
    if (this.#conversation === undefined) return
    this.#received(this.#conversation, message.kind === 'text' ? message.text : undefined)
  }

  onDrain(): void {
    this.#reader?.drained()
  }

  onClose(code: number): void {
    this.#reader?.close()
    if (!brokenRuleCodes.has(code)) return
    const problem = 'A socket was closed because its client broke a rule of WebSocket'
    this.#rules.log.info(problem, { conversation_id: this.#conversation?.id, code })
  }

  write(frame: Buffer): boolean {
    return this.#connection.send(frame)
  }

  get isFull(): boolean {
    return this.#connection.isFull
  }

  writeMany(events: readonly Buffer[]): boolean {
    const frames = this.#connection.deflate
      ? Buffer.concat(events.map((event) => encodeCompressedText(event)))
      : encodeTexts(events)
    return this.#connection.send(frames)
  }

  end(reason: FeedEnd, next: number): void {
    switch (reason) {
      case 'deleted':
        return this.#connection.close(closeCodes.notFound, 'Conversation not found')
      case 'closed':
        return this.#connection.close(closeCodes.serviceRestart, this.#farewell(next))
      case 'failed':
        return this.#connection.close(closeCodes.internalError, 'The history cannot be read')
    }
  }

  /** Returns the reason for the Close frame. It has the id of event number `next` - 1, if the id is in memory. */
  #farewell(next: number): string {
    const last = this.#conversation?.events.idInMemory(next - 1)
    return `The server ends: connect again${last === undefined ? '' : ` with after=${last}`}`
  }

  async #join(conversation: Conversation, resend: Resend): Promise<void> {
    const from = await startOf(conversation, resend)
    if (from !== undefined) {
      const encode = this.#connection.deflate ? encodeCompressedText : encodeText
      this.#reader = conversation.join({ from, encode, sink: this })
      // For the status `error` or `stuck`, existing clients show the reason only if the socket sends it as an error.
      const failure = await failureOf(conversation.state, conversation.events)
      if (failure !== undefined) this.#sendError(conversation, failure)
      return
    }
    this.write(encodeText(conversation.frames.fullState().json))
    const detail = 'The event to continue after is not in this conversation'
    this.#sendError(conversation, { code: 'UnknownEventId', detail })
    this.#connection.close(closeCodes.unknownEvent, 'Unknown event id')
  }

  #received(conversation: Conversation, text: string | undefined): void {
    this.#connection.pause()
    this.#serve(conversation, text)
      .catch((thrown: unknown) => this.#sendError(conversation, frameErrorOf(thrown, this.#rules.log)))
      .finally(() => this.#connection.resume())
  }

  async #serve(conversation: Conversation, text: string | undefined): Promise<void> {
    if (text === undefined) throw new AppError('bad_request', 'Expected a text frame')
    const value = await parseFrame(text, this.#rules.valueLimit)
    if (isAuthFrame(value)) return
    const ending = this.#rules.endingBecause()
    if (ending !== undefined) throw new AppError('unavailable', ending)
    const client = this.#client
    if (client === undefined) return
    await recorded(this.#rules.trail, client, async () => {
      assertRight(client.principal, 'drive')
      await sendMessage(conversation, value)
    })
  }

  #sendError(conversation: Conversation, { code, detail }: FrameError): void {
    this.write(encodeText(conversation.frames.error(code, detail)))
  }

  #refuse(thrown: unknown): void {
    const code = thrown instanceof AppError ? thrown.code : undefined
    if (code === 'not_found') return this.#connection.close(closeCodes.notFound, 'Conversation not found')
    if (code === 'unavailable') return this.#connection.close(closeCodes.tryAgainLater, messageOf(thrown))
    this.#rules.log.error('A socket could not join its conversation', { error: errorOf(thrown) })
    this.#connection.close(closeCodes.internalError, 'The conversation cannot be opened')
  }
}

/** Checks a frame with a Message, and sends the message. @throws AppError `invalid_input`; the errors of `send` */
async function sendMessage(conversation: Conversation, value: unknown): Promise<void> {
  const message = checkedFrame(Message, value)
  const { content, role } = message
  if (content.length > contentLimit) {
    throw new AppError('invalid_input', `content: expected at most ${contentLimit} parts`)
  }
  if (role !== 'user') throw new AppError('invalid_input', `role: expected "user", got "${role}"`)
  await conversation.send(userMessageOf(message), true)
}
