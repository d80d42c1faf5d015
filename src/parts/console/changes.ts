/**
 * `GET /api/console/changes`: a stream of server-sent events that keeps the page's list of conversations current.
 *
 * A message has the summary of a changed conversation, or `removed: true` for a deleted one. Changes of a conversation
 * within 200 ms share a message. At most 50 streams are open.
 */
import type { ServerResponse } from 'node:http'
import { memberAt } from '../../base/fields.ts'
import type { ConversationFollower } from '../../conversation/list/followers.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { HttpResponse } from '../../http/reply.ts'

const pauseMs = 200
const heartbeatMs = 15_000
const streamLimit = 50

export class Changes implements ConversationFollower {
  readonly #conversations: StoredConversations
  readonly #streams = new Set<ChangeStream>()
  readonly #unfollow: () => void

  constructor(conversations: StoredConversations) {
    this.#conversations = conversations
    this.#unfollow = conversations.follow(this)
  }

  /** Returns a response with a new stream. When 50 streams are open, the oldest one ends. */
  serve(): HttpResponse {
    return {
      status: 200,
      type: 'text/event-stream',
      headers: ['X-Accel-Buffering', 'no'],
      stream: (response) => {
        const [oldest] = this.#streams
        if (this.#streams.size >= streamLimit) oldest?.close()
        const stream = new ChangeStream(response, this.#conversations)
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
  readonly #conversations: StoredConversations
  /** The ids of the conversations that changed since the last messages were sent. */
  readonly #noted = new Set<string>()
  readonly #heartbeat: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, conversations: StoredConversations) {
    this.#response = response
    this.#conversations = conversations
    this.#heartbeat = setInterval(() => this.#write(': alive\n\n'), heartbeatMs)
    response.on('drain', () => this.#plan())
    this.#write(': open\n\n')
  }

  note(id: string): void {
    this.#noted.add(id)
    this.#plan()
  }

  close(): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#timer)
    this.#response.end()
  }

  #plan(): void {
    if (this.#noted.size > 0) this.#timer ??= setTimeout(() => void this.#tell(), pauseMs)
  }

  async #tell(): Promise<void> {
    const ids = [...this.#noted]
    this.#noted.clear()
    for (const id of ids) {
      const info = await this.#conversations.info(id).catch(() => undefined)
      this.#write(`data: ${JSON.stringify(info === undefined ? { id, removed: true } : summaryOf(id, info))}\n\n`)
    }
    this.#timer = undefined
    if (!this.#response.writableNeedDrain) this.#plan()
  }

  #write(text: string): void {
    if (!this.#response.writableEnded) this.#response.write(text)
  }
}

/** Returns the members of a ConversationInfo that the list shows; null for a missing one. */
function summaryOf(id: string, info: unknown): object {
  const names = ['title', 'execution_status', 'created_at', 'updated_at', 'tags', 'parent_conversation_id']
  return { id, ...Object.fromEntries(names.map((name) => [name, memberAt(info, name) ?? null])) }
}
