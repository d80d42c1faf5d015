/**
 * The end of a text that comes in chunks, kept until it is certain what becomes of it.
 *
 * Chunks are never joined before they are taken, so a text that comes in many small ones costs what it has in characters.
 */

/** How far back of a word its beginning may be judged: 7 for the word, one before, and a backslash before that. */
export const recentLength = 9

export class HeldText {
  /** The place of its first character in the text. */
  start = 0
  /** The last characters in front of it. */
  before = ''
  #chunks: string[] = []

  add(chunk: string): void {
    if (chunk !== '') this.#chunks.push(chunk)
  }

  text(): string {
    return this.#chunks.join('')
  }

  /** Takes off everything in front of a place. */
  takeTo(place: number): string {
    if (place <= this.start) return ''
    const taken: string[] = []
    let left = place - this.start
    let whole = 0
    for (const chunk of this.#chunks) {
      if (chunk.length > left) break
      taken.push(chunk)
      left -= chunk.length
      whole++
    }
    this.#chunks.splice(0, whole)
    const [first] = this.#chunks
    if (left > 0 && first !== undefined) {
      taken.push(first.slice(0, left))
      this.#chunks[0] = first.slice(left)
    }
    this.start = place
    const [only = ''] = taken
    const text = taken.length < 2 ? only : taken.join('')
    this.before = (this.before + text.slice(-recentLength)).slice(-recentLength)
    return text
  }
}
