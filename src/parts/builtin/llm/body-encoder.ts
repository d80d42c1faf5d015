/**
 * Encodes request bodies incrementally: each request of a run repeats a long history and adds a few messages.
 *
 * The encoder keeps the bytes of the repeated history: the items of the first messages in the provider's form, each
 * followed by a comma. The bytes belong to the very same message objects; a request with other objects starts anew. The
 * end of a history is not kept, because it still changes: consecutive messages of one role become one turn, and the
 * prompt cache marks the last two user turns. The kept part therefore ends before an answer with calls that follows
 * results.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { ModelMessage, ModelRequest } from './model.ts'

/** The form of a history at a provider. */
export interface BodyFormat {
  /** The member of the body that holds the history. */
  readonly historyMember: string
  /**
   * Returns the elements of that member for these messages. A history may be split before an answer with calls: the
   * elements of its two parts, joined, are those of the whole.
   */
  itemsOf(messages: readonly ModelMessage[]): readonly JsonObject[]
  /** Returns the body with the messages from `from` on as its history; its other members are for all messages. */
  bodyOf(request: ModelRequest, from?: number): JsonObject
}

export class BodyEncoder {
  readonly #format: BodyFormat
  /** The messages whose bytes the pages hold. */
  #messages: ModelMessage[] = []
  #pages: Buffer[] = []

  constructor(format: BodyFormat) {
    this.#format = format
  }

  /** Returns the JSON of a body, in chunks that callers must not change. */
  encode(request: ModelRequest): Uint8Array[] {
    this.#keep(request.messages)
    const { historyMember } = this.#format
    const { [historyMember]: items = [], ...rest } = this.#format.bodyOf(request, this.#messages.length)
    const head = JSON.stringify({ ...rest, [historyMember]: [] }).slice(0, -']}'.length)
    const tail = `${JSON.stringify(items).slice('['.length)}}`
    return [Buffer.from(head), ...this.#pages, Buffer.from(tail)]
  }

  /** Keeps the messages that later requests will repeat. */
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
 * Returns the number of messages at the beginning that will not change in later requests: those before an answer with
 * calls that at least two user turns follow (the marks of the prompt cache are on the last two). Providers count
 * results as user turns.
 */
function repeatedCount(messages: readonly ModelMessage[]): number {
  const newest = messages.findLastIndex(({ message }) => message.role !== 'assistant')
  return Math.max(0, lastCall(messages, lastCall(messages, newest)))
}

/** Returns the index of the last answer before `end` that has calls and follows results; -1 if there is none. */
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

/** Returns whether the message asks for a cache breakpoint. Breakpoints are few, and each request chooses them anew. */
function isMarked({ message }: ModelMessage): boolean {
  return message.content.some((part) => part.cache_prompt)
}
