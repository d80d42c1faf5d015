/** Holds back the end of a text that arrives in chunks, while a secret may begin in this end. */

/** Enough characters to find out whether a short secret is a whole word: the secret has at most 7, and 2 precede it. */
export const recentLength = 9

export class HeldText {
  /** The offset in the whole text at which the held text begins. */
  start = 0
  /** The last characters before the held text, at most `recentLength`. */
  before = ''
  #chunks: string[] = []

  add(chunk: string): void {
    if (chunk !== '') this.#chunks.push(chunk)
  }

  text(): string {
    return this.#chunks.join('')
  }

  /** Removes and returns the held text before the offset `place`, which counts from the beginning of the whole text. */
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
