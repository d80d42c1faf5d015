/**
 * Gathers the chunks of one message of an external agent: its text, its images and its thoughts.
 *
 * A message ends at a limit of characters, or when a chunk begins another message (`begins`). `take` returns the
 * message, masked.
 */
import { objectOf, textOf, type Fields } from '../../../base/fields.ts'
import type { ContentInput } from '../../../schema/generated/values.ts'
import { GrowingText, type TextHiding } from '../calls/growing-text.ts'
import { blockText, imageUrl } from '../calls/output.ts'

export interface GatheredMessage {
  /** Texts and images in order; adjacent texts are joined. */
  readonly content: readonly ContentInput[]
  /** The thoughts of the message; empty without thoughts. */
  readonly reasoning: string
}

export class MessageBuffer {
  readonly #limitChars: number
  #content: ContentInput[] = []
  readonly #text: GrowingText
  readonly #reasoning: GrowingText
  #messageId: string | undefined
  #size = 0

  /** When a message has `limitChars` characters of text, thoughts and image URLs, the next chunk begins a new one. */
  constructor(limitChars: number, hiding: TextHiding) {
    this.#limitChars = limitChars
    this.#text = new GrowingText(hiding)
    this.#reasoning = new GrowingText(hiding)
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** True when the chunk begins another message. The caller must then call `take` before `add`. */
  begins(sort: 'text' | 'thought', chunk: Fields): boolean {
    if (this.isEmpty) return false
    if (this.#size >= this.#limitChars) return true
    const id = textOf(chunk['messageId'])
    const hasText = !this.#text.isEmpty || this.#content.length > 0
    if (sort === 'text') return hasText && id !== this.#messageId
    return hasText && (id === undefined || id !== this.#messageId)
  }

  /** Adds a chunk and returns its text, which the caller must mask before clients get it. */
  add(sort: 'text' | 'thought', chunk: Fields): string {
    const block = objectOf(chunk['content'])
    const text = blockText(block)
    this.#size += text.length
    if (sort === 'thought') this.#reasoning.add(text)
    else this.#addContent(block, text)
    if (sort === 'text') this.#messageId = textOf(chunk['messageId'])
    return text
  }

  /** Returns the message and empties the buffer. Thoughts are trimmed; blank text is left out. */
  take(): GatheredMessage {
    this.#endText()
    const message = { content: this.#content, reasoning: this.#reasoning.take().trim() }
    this.#content = []
    this.#messageId = undefined
    this.#size = 0
    return message
  }

  #addContent(block: Fields, text: string): void {
    const url = imageUrl(block)
    if (url === undefined) {
      this.#text.add(text)
      return
    }
    this.#endText()
    this.#content.push({ type: 'image', image_urls: [url] })
    this.#size += url.length
  }

  #endText(): void {
    const text = this.#text.take()
    if (text.trim() !== '') this.#content.push({ type: 'text', text })
  }
}
