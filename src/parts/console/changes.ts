/**
 * `GET /api/console/changes`: a stream of server-sent events that keeps the page's list of conversations current.
 *
 * A message has the summary of a changed conversation, or `removed: true` if it cannot be read. Changes of a
 * conversation within 200 ms share a message. While a client does not read, nothing is written, and one id for each
 * changed conversation is kept. With 50 streams open, a new stream ends the oldest.
 */
import type { ServerResponse } from 'node:http'
import type { Call } from '../../api/call.ts'
import { filterFor } from '../../api/permission.ts'
import { memberAt } from '../../base/fields.ts'
import type { ConversationFollower } from '../../conversation/list/followers.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { HttpResponse } from '../../http/reply.ts'

const pauseMs = 200
const heartbeatMs = 15_000
const streamLimit = 50

type Conversations = Pick<StoredConversations, 'follow' | 'info' | 'hasTag'>
/** Selects conversations by their ids. */
type Where = (id: string) => boolean

export class Changes implements ConversationFollower {
  readonly #conversations: Conversations
  readonly #streams = new Set<ChangeStream>()
  readonly #unfollow: () => void

  constructor(conversations: Conversations) {
    this.#conversations = conversations
    this.#unfollow = conversations.follow(this)
  }

  /**
   * Returns a response with a new stream, about the conversations that the client may see. When 50 streams are open,
   * the oldest stream ends.
   */
  serve({ principal }: Pick<Call, 'principal'>): HttpResponse {
    const isVisible = filterFor(principal, this.#conversations.hasTag) ?? (() => true)
    return {
      status: 200,
      type: 'text/event-stream',
      headers: ['X-Accel-Buffering', 'no'],
      stream: (response) => {
        const [oldest] = this.#streams
        if (this.#streams.size >= streamLimit) oldest?.close()
        const stream = new ChangeStream(response, this.#conversations, isVisible)
        this.#streams.add(stream)
        response.once('close', () => {
          stream.close()
          this.#streams.delete(stream)
        })
      },
    }
  }

  started(): void {}

  changed(id: string): void {
    for (const stream of this.#streams) stream.note(id)
  }

  async removing(id: string): Promise<void> {
    for (const stream of this.#streams) stream.note(id)
  }

  async closing(): Promise<void> {
    this.close()
  }

  close(): void {
    this.#unfollow()
    for (const stream of this.#streams) stream.close()
  }
}

class ChangeStream {
  readonly #response: ServerResponse
  readonly #isVisible: Where
  readonly #conversations: Conversations
  /** The ids of changed conversations whose message is not written yet. */
  readonly #noted = new Set<string>()
  readonly #heartbeat: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, conversations: Conversations, isVisible: Where) {
    this.#response = response
    this.#isVisible = isVisible
    this.#conversations = conversations
    this.#heartbeat = setInterval(() => this.#write(': alive\n\n'), heartbeatMs)
    response.on('drain', () => this.#plan())
    this.#write(': open\n\n')
  }

  note(id: string): void {
    if (!this.#isVisible(id)) return
    this.#noted.add(id)
    this.#plan()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#timer)
    this.#response.end()
  }

  #plan(): void {
    if (this.#noted.size > 0 && this.#isWritable()) this.#timer ??= setTimeout(() => void this.#tell(), pauseMs)
  }

  async #tell(): Promise<void> {
    for (const id of [...this.#noted]) {
      if (!this.#isWritable()) break
      this.#noted.delete(id)
      const info = await this.#conversations.info(id).catch(() => undefined) // The conversation was removed.
      this.#write(`data: ${JSON.stringify(info === undefined ? { id, removed: true } : summaryOf(id, info))}\n\n`)
    }
    this.#timer = undefined
    this.#plan()
  }

  /** Returns whether the stream is open and its buffer has room. */
  #isWritable(): boolean {
    return !this.#response.writableEnded && !this.#response.writableNeedDrain
  }

  #write(text: string): void {
    if (this.#isWritable()) this.#response.write(text)
  }
}

/** Returns the members of a ConversationInfo that the list shows; null in place of a missing member. */
function summaryOf(id: string, info: unknown): object {
  const names = [
    'title', 'execution_status', 'created_at', 'updated_at', 'tags', 'parent_conversation_id',
    'forked_from_conversation_id',
  ]
  return { id, ...Object.fromEntries(names.map((name) => [name, memberAt(info, name) ?? null])) }
}
