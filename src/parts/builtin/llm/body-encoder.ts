/**
 * Makes the bytes of request bodies, of which one repeats what the one before had: a step adds a few messages to a history
 * that may be long.
 *
 * The bytes of that history are kept. They are the items of the first so many messages in the provider's form, with a
 * comma behind each, and they belong to the very same message objects; a request that begins with others begins anew. The
 * end of a history stays outside, because it still changes: neighbours of one role become one turn, and a prompt cache
 * wants the last two turns of the user marked. So what is kept ends where an answer with calls begins, behind results.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { ModelMessage, ModelRequest } from './model.ts'

/** How a provider wants a history. */
export interface BodyFormat {
  /** The member of the body that holds it. */
  readonly historyMember: string
  /** The elements of that member. For a history that is cut before an answer with calls it gives those of both parts. */
  itemsOf(messages: readonly ModelMessage[]): readonly JsonObject[]
  /** The body with the messages from `from` on as its history; everything else is for all messages. */
  bodyOf(request: ModelRequest, from?: number): JsonObject
}

export class BodyEncoder {
  readonly #format: BodyFormat
  /** What the pages hold. */
  #messages: ModelMessage[] = []
  #pages: Buffer[] = []

  constructor(format: BodyFormat) {
    this.#format = format
  }

  /** The JSON of a body, in pieces that are not to be changed. */
  encode(request: ModelRequest): Uint8Array[] {
    this.#keep(request.messages)
    const { historyMember } = this.#format
    const { [historyMember]: items = [], ...rest } = this.#format.bodyOf(request, this.#messages.length)
    const head = JSON.stringify({ ...rest, [historyMember]: [] }).slice(0, -']}'.length)
    const tail = `${JSON.stringify(items).slice('['.length)}}`
    return [Buffer.from(head), ...this.#pages, Buffer.from(tail)]
  }

  /** Takes in what later requests will repeat of these messages. */
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

  /** Small pieces share a page, so that a socket is handed few of them. */
  #append(bytes: Buffer): void {
    const last = this.#pages.at(-1)
    if (last === undefined || last.length + bytes.length > pageBytes) this.#pages.push(bytes)
    else this.#pages[this.#pages.length - 1] = Buffer.concat([last, bytes])
  }
}

const pageBytes = 64 * 1024

/** Up to an answer with calls behind which are two turns of the user: results are his, as providers count. */
function repeatedCount(messages: readonly ModelMessage[]): number {
  const newest = messages.findLastIndex(({ message }) => message.role !== 'assistant')
  return Math.max(0, lastCall(messages, lastCall(messages, newest)))
}

/** The last answer with calls before this place that comes after results; -1 if there is none. */
function lastCall(messages: readonly ModelMessage[], end: number): number {
  return messages.findLastIndex(({ message }, index) => {
    return index < end && message.tool_calls !== undefined && message.tool_calls.length > 0 && messages[index - 1]?.message.role === 'tool'
  })
}

/** Marks for the prompt cache are few, and weighed against each other with every request. */
function isMarked({ message }: ModelMessage): boolean {
  return message.content.some((part) => part.cache_prompt)
}
