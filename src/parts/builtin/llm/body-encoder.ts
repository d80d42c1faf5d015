/**
 * Encodes request bodies incrementally: each request of a run repeats a long history and adds a few messages.
 *
 * The encoder keeps the bytes of the repeated beginning of the history, and discards them when a request begins with
 * other message objects. It does not keep the end of the history, because the next request may change it.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { ModelMessage, ModelRequest } from './model.ts'

/** The form of a history at a provider. */
export interface BodyFormat {
  /** The member of the body that holds the history. */
  readonly historyMember: string
  /**
   * Returns the elements of `historyMember` for these messages. A caller may convert a history in two pieces. The split
   * is before an answer that has calls and follows tool results, and the pieces together give the same elements.
   */
  itemsOf(messages: readonly ModelMessage[]): readonly JsonObject[]
  /**
   * Returns the body. Its history begins with the message at index `from` (default 0); its other members are made from
   * all messages.
   */
  bodyOf(request: ModelRequest, from?: number): JsonObject
}

export class BodyEncoder {
  readonly #format: BodyFormat
  /** The messages that `#pages` holds in encoded form. */
  #messages: ModelMessage[] = []
  #pages: Buffer[] = []

  constructor(format: BodyFormat) {
    this.#format = format
  }

  /** Returns the body of a request as JSON, in chunks that callers must not change. */
  encode(request: ModelRequest): Uint8Array[] {
    this.#keep(request.messages)
    const { historyMember } = this.#format
    const { [historyMember]: items = [], ...rest } = this.#format.bodyOf(request, this.#messages.length)
    const head = JSON.stringify({ ...rest, [historyMember]: [] }).slice(0, -']}'.length)
    const tail = `${JSON.stringify(items).slice('['.length)}}`
    return [Buffer.from(head), ...this.#pages, Buffer.from(tail)]
  }

  /** Encodes and keeps the messages that later requests will repeat; none of them when one has `cache_prompt`. */
  #keep(messages: readonly ModelMessage[]): void {
    if (this.#messages.some((message, index) => message !== messages[index])) {
      this.#messages = []
      this.#pages = []
    }
    const added = messages.slice(this.#messages.length, repeatedCount(messages))
    if (added.length === 0 || added.some(isMarked)) return
    this.#messages.push(...added)
    this.#append(Buffer.from(this.#format.itemsOf(added).map((item) => `${JSON.stringify(item)},`).join('')))
  }

  /** Adds bytes to the pages. Small pieces share a page, so that the socket writes few buffers. */
  #append(bytes: Buffer): void {
    const last = this.#pages.at(-1)
    if (last === undefined || last.length + bytes.length > pageBytes) this.#pages.push(bytes)
    else this.#pages[this.#pages.length - 1] = Buffer.concat([last, bytes])
  }
}

const pageBytes = 64 * 1024

/**
 * Returns the number of messages at the start of the list that later requests repeat unchanged. Each request marks its
 * last two user turns for the prompt cache, and tool results are user turns. So the messages end before the second-last
 * answer that has calls and follows tool results.
 */
function repeatedCount(messages: readonly ModelMessage[]): number {
  const newest = messages.findLastIndex(({ message }) => message.role !== 'assistant')
  return Math.max(0, lastCall(messages, lastCall(messages, newest)))
}

/** Returns the index of the last answer before `end` that has calls and follows tool results; -1 when there is none. */
function lastCall(messages: readonly ModelMessage[], end: number): number {
  return messages.findLastIndex(({ message }, index) => {
    return (
      index < end &&
      message.tool_calls !== undefined &&
      message.tool_calls.length > 0 &&
      messages[index - 1]?.message.role === 'tool'
    )
  })
}

/** Returns whether the message asks for a mark of the prompt cache. Each request places its marks anew. */
function isMarked({ message }: ModelMessage): boolean {
  return message.content.some((part) => part.cache_prompt)
}
