/**
 * `GET /api/console/changes`: a stream of server-sent events for the page's list of conversations.
 *
 * A message has the summary of a changed conversation, or `removed: true` if the conversation cannot be read. A message
 * of the type `queue` has the length of the queue in which conversations wait to start an agent program, and the places
 * of visible conversations. While a client does not read, only the ids of changed conversations are kept.
 */
import type { ServerResponse } from 'node:http'
import type { Call } from '../../api/call.ts'
import { filterFor } from '../../api/permission.ts'
import { AppError } from '../../base/errors.ts'
import { memberAt, textOf } from '../../base/fields.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Core } from '../../capabilities.ts'
import type { ConversationFollower } from '../../conversation/list/followers.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { Principal } from '../../http/principal.ts'
import type { HttpResponse } from '../../http/reply.ts'

const pauseMs = 200
const heartbeatMs = 15_000
const streamLimit = 50

export interface Sources extends Pick<Core, 'agentQueue'> {
  readonly conversations: Pick<StoredConversations, 'follow' | 'info' | 'hasTag'>
}

type HasTag = Sources['conversations']['hasTag']

export class Changes implements ConversationFollower {
  readonly #sources: Sources
  readonly #streams = new Set<ChangeStream>()
  readonly #unfollow: () => void
  #isClosed = false

  constructor(sources: Sources) {
    this.#sources = sources
    this.#unfollow = sources.conversations.follow(this)
  }

  /**
   * Returns a response with a new stream about the conversations that the client may see. With 50 streams open, the
   * oldest stream is cut. @throws AppError `unavailable` after `close`
   */
  serve({ principal }: Pick<Call, 'principal'>): HttpResponse {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is shutting down')
    return {
      status: 200,
      type: 'text/event-stream',
      headers: ['X-Accel-Buffering', 'no'],
      stream: (response) => {
        const [oldest] = this.#streams
        if (oldest !== undefined && this.#streams.size >= streamLimit) this.#cut(oldest)
        const stream = new ChangeStream(response, this.#sources, principal)
        this.#streams.add(stream)
        response.once('close', () => {
          stream.close()
          this.#streams.delete(stream)
        })
      },
    }
  }

  #cut(stream: ChangeStream): void {
    this.#streams.delete(stream)
    stream.cut()
  }

  started(): void {}

  changed(id: string): void {
    for (const stream of this.#streams) stream.note(id)
  }

  async removing(id: string, info: JsonObject): Promise<void> {
    const { hasTag } = this.#sources.conversations
    const parent = textOf(info['parent_conversation_id'])
    // The conversation is no longer listed, so `hasTag` does not know its tags.
    const hadTag: HasTag = (_id, tag) =>
      memberAt(info, 'tags', tag.name) === tag.value || (parent !== undefined && hasTag(parent, tag))
    for (const stream of this.#streams) stream.note(id, hadTag)
  }

  async closing(): Promise<void> {
    this.close()
  }

  close(): void {
    this.#isClosed = true
    this.#unfollow()
    for (const stream of this.#streams) stream.close()
  }
}

class ChangeStream {
  readonly #response: ServerResponse
  readonly #principal: Principal
  readonly #sources: Sources
  /** The ids of changed conversations whose message is not written yet. */
  readonly #noted = new Set<string>()
  readonly #heartbeat: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined
  /** The last written message about the queue, as JSON; empty before the first. */
  #toldQueue = ''

  constructor(response: ServerResponse, sources: Sources, principal: Principal) {
    this.#response = response
    this.#principal = principal
    this.#sources = sources
    this.#heartbeat = setInterval(() => this.#write(': alive\n\n'), heartbeatMs)
    response.on('drain', () => this.#plan())
    this.#write(': open\n\n')
    this.#tellQueue()
  }

  /** Plans a message about the conversation, if the client may see it, and one about the queue, if it has changed. */
  note(id: string, hasTag = this.#sources.conversations.hasTag): void {
    if (this.#isVisible(id, hasTag)) this.#noted.add(id)
    this.#plan()
  }

  #isVisible(id: string, hasTag = this.#sources.conversations.hasTag): boolean {
    return filterFor(this.#principal, hasTag)?.(id) ?? true
  }

  close(): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#timer)
    this.#response.end()
  }

  /** Closes the stream and cuts the connection at once. `close` alone lets the client read what is still buffered. */
  cut(): void {
    this.close()
    this.#response.destroy()
  }

  #plan(): void {
    if (this.#isWritable()) this.#timer ??= setTimeout(() => void this.#tell(), pauseMs)
  }

  async #tell(): Promise<void> {
    for (const id of [...this.#noted]) {
      if (!this.#isWritable()) break
      this.#noted.delete(id)
      const info = await this.#sources.conversations.info(id).catch(() => undefined) // Sends `removed`.
      this.#write(`data: ${JSON.stringify(info === undefined ? { id, removed: true } : summaryOf(id, info))}\n\n`)
    }
    this.#tellQueue()
    this.#timer = undefined
    if (this.#noted.size > 0) this.#plan()
  }

  /** Sends the queue's length and the places of conversations that the client may see, if length or places changed. */
  #tellQueue(): void {
    const queue = this.#sources.agentQueue()
    const places = Object.fromEntries(queue.map((id, index) => [id, index + 1] as const)
      .filter(([id]) => this.#isVisible(id)))
    const told = JSON.stringify({ length: queue.length, places })
    if (told === this.#toldQueue || !this.#isWritable()) return
    this.#toldQueue = told
    this.#write(`event: queue\ndata: ${told}\n\n`)
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
