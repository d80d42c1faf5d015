/**
 * Encodes request bodies incrementally, because each request of a run repeats a long history.
 *
 * The encoder keeps the bytes of the beginning of the history. It discards them when a request begins with other
 * message objects.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { ModelMessage, ModelRequest } from './model.ts'

/** The form in which a provider takes the history of a conversation. */
export interface BodyFormat {
  /** The member of the body that holds the history. */
  readonly historyMember: string
  /**
   * Returns the elements of `historyMember` for these messages.
   *
   * A caller may convert a history piece by piece, and has to get the same elements as from the whole history. Each
   * piece after the first begins with an answer that has tool calls and comes right after a tool result.
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

  /** Returns the body as JSON, in chunks. Callers must not change the chunks. */
  encode(request: ModelRequest): Uint8Array[] {
    this.#keep(request.messages)
    const { historyMember } = this.#format
    const { [historyMember]: items = [], ...rest } = this.#format.bodyOf(request, this.#messages.length)
    const head = JSON.stringify({ ...rest, [historyMember]: [] }).slice(0, -']}'.length)
    const tail = `${JSON.stringify(items).slice('['.length)}}`
    return [Buffer.from(head), ...this.#pages, Buffer.from(tail)]
  }

  /** Encodes and keeps the new messages that later requests repeat, unless `isMarked` is true for one of them. */
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

  /** Adds bytes to `#pages`. Small pieces share a page, so that the socket writes few buffers. */
  #append(bytes: Buffer): void {
    const last = this.#pages.at(-1)
    if (last === undefined || last.length + bytes.length > pageBytes) this.#pages.push(bytes)
    else this.#pages[this.#pages.length - 1] = Buffer.concat([last, bytes])
  }
}

const pageBytes = 64 * 1024

/**
 * Returns how many messages at the beginning have the same bytes in later requests. The newest messages may differ:
 * `anthropic-cache.ts` puts cache breakpoints in up to two of the last user messages and tool results, and moves them
 * with each request. The message after the counted messages begins a piece, as `BodyFormat.itemsOf` requires.
 */
function repeatedCount(messages: readonly ModelMessage[]): number {
  const newest = messages.findLastIndex(({ message }) => message.role !== 'assistant')
  return Math.max(0, lastCall(messages, lastCall(messages, newest)))
}

/** Returns the index of the last answer before `end` that has calls and comes right after a tool result; else -1. */
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

/** Returns whether the message asks for a prompt cache breakpoint, which the next request may leave out. */
function isMarked({ message }: ModelMessage): boolean {
  return message.content.some((part) => part.cache_prompt)
}
