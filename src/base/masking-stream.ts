/**
 * Masks one text that arrives in chunks. The end of the text is held back while it may be the beginning of a secret.
 *
 * One `<secret-hidden>` replaces overlapping secrets. If the registered secrets change, held text is searched again.
 */
import { HeldText, recentLength } from './held-text.ts'
import { isMargin, type PatternSearch } from './masking-search.ts'
import { WrappedReadings } from './masking-wrapped.ts'

/** The replacement of a secret. */
export const secretMark = '<secret-hidden>'

/** Returns the search for the secrets that are registered now; undefined while there are none. */
export type CurrentSearch = () => PatternSearch | undefined

/** A hidden part of the text. The offsets count from the beginning of the whole text. */
interface HiddenPart {
  readonly start: number
  end: number
}

export class TextMasking {
  readonly #currentSearch: CurrentSearch
  #search: PatternSearch | undefined
  #wrapped: WrappedReadings | undefined
  readonly #cursor = { state: 0 }
  /** The end of the text so far that is not returned yet, because a secret may begin in it. */
  #held = new HeldText()
  /** The hidden parts of the held text, in order and disjoint. */
  #parts: HiddenPart[] = []
  /** The offset, in the whole text, after the part that the last returned `<secret-hidden>` replaces; at first 0. */
  #markedEnd = 0
  /** The number of characters that were read. */
  #length = 0
  /**
   * The last characters that were read, at most `recentLength`. They show where a word begins: a short secret
   * (`Patterns.words`) is hidden only as a whole word.
   */
  #recent = ''
  /** The `Patterns.words` that end with the last character read: bit n stands for a word of n characters. */
  #wordsAtEnd = 0
  #isOutdated = false

  constructor(currentSearch: CurrentSearch) {
    this.#currentSearch = currentSearch
  }

  /** True when the secrets changed after a part of the text was returned: that part may show a new secret. */
  get isOutdated(): boolean {
    return this.#isOutdated || (this.#held.start > 0 && this.#currentSearch() !== this.#search)
  }

  /** Adds the next chunk, and returns masked text. An end that may begin a secret is held back for a later call. */
  push(chunk: string): string {
    const search = this.#currentSearch()
    this.#isOutdated = this.isOutdated
    if (search !== this.#search) this.#readAgain(search)
    this.#held.add(chunk)
    this.#read(chunk)
    return this.#give(this.#safeEnd())
  }

  /** Ends the text and returns the rest of it, masked. The object may then mask another text. */
  end(): string {
    this.#judgeWords(this.#wordsAtEnd, '', 0)
    const rest = this.#give(this.#length)
    this.#restart(this.#search)
    this.#held = new HeldText()
    this.#markedEnd = this.#length = 0
    this.#isOutdated = false
    this.#recent = ''
    return rest
  }

  #readAgain(search: PatternSearch | undefined): void {
    this.#restart(search)
    this.#length = this.#held.start
    this.#recent = this.#held.before
    this.#read(this.#held.text())
  }

  #restart(search: PatternSearch | undefined): void {
    this.#search = search
    const hide = (start: number, end: number): void => this.#hide(start, end)
    this.#wrapped = search === undefined ? undefined : new WrappedReadings(search, hide)
    this.#cursor.state = 0
    this.#parts = []
    this.#wordsAtEnd = 0
  }

  #read(text: string): void {
    if (this.#search !== undefined && this.#wrapped !== undefined && text !== '') {
      this.#scan(text, this.#search, this.#wrapped)
    }
    this.#length += text.length
    this.#recent = (this.#recent + text.slice(-recentLength)).slice(-recentLength)
  }

  #scan(text: string, search: PatternSearch, wrapped: WrappedReadings): void {
    if (this.#wordsAtEnd !== 0) this.#judgeWords(this.#wordsAtEnd, text, 0)
    this.#wordsAtEnd = 0
    const cursor = this.#cursor
    /** The offset after the last margin (`isMargin`) that cannot be inside of a secret. `wrapped` skips this margin. */
    let plainEnd = 0
    for (let index = 0; index < text.length; ) {
      const from = index
      if (wrapped.isIdle && index >= plainEnd) index = search.read(text, index, cursor)
      if (index === from) {
        const codeUnit = text.charCodeAt(index)
        if (wrapped.isIdle && index >= plainEnd) {
          plainEnd = endOfPlainMargin(text, index, (next) => wrapped.mayGoOn(cursor.state, next))
        }
        if (index >= plainEnd) wrapped.feed(codeUnit, this.#length + index, cursor.state)
        cursor.state = search.step(cursor.state, codeUnit)
        index++
      }
      if (cursor.state !== 0) this.#matched(search, text, index)
    }
  }

  /**
   * Hides the matches that end right before the offset `index` of `text`: the longest of `Patterns.texts`, and each of
   * `Patterns.words` that is a whole word. At the end of `text`, words wait in `#wordsAtEnd` for the next character.
   */
  #matched(search: PatternSearch, text: string, index: number): void {
    const end = this.#length + index
    const length = search.matchLength(this.#cursor.state)
    if (length > 0) this.#hide(end - length, end)
    const words = search.wordLengths(this.#cursor.state)
    if (words === 0) return
    if (index < text.length) this.#judgeWords(words, text, index)
    else this.#wordsAtEnd = words
  }

  /** Hides short secrets before `index` that are whole words. Bit n of `lengths` stands for a length of n. */
  #judgeWords(lengths: number, text: string, index: number): void {
    const unit = (place: number): number => {
      return place < 0 ? this.#recent.charCodeAt(this.#recent.length + place) : text.charCodeAt(place)
    }
    for (let length = 4; length <= 7; length++) {
      if ((lengths & (1 << length)) === 0) continue
      const start = index - length
      const isEscape = isWordPart(unit(start - 1)) && unit(start - 2) === 0x5c
      const begins = isEscape || !isWordPart(unit(start)) || !isWordPart(unit(start - 1))
      const ends = !isWordPart(unit(index - 1)) || !isWordPart(unit(index))
      if (begins && ends) this.#hide(this.#length + start, this.#length + index)
    }
  }

  /** Adds a match to `#parts`, and joins overlapping parts. If the last mark overlaps, only moves `#markedEnd`. */
  #hide(matchStart: number, end: number): void {
    const newest = this.#parts.at(-1)
    if (newest !== undefined && newest.start <= matchStart && newest.end > matchStart) {
      newest.end = end
      return
    }
    let start = matchStart
    for (let last = this.#parts.at(-1); last !== undefined && last.end > start; last = this.#parts.at(-1)) {
      start = Math.min(start, last.start)
      this.#parts.pop()
    }
    if (start < this.#markedEnd) this.#markedEnd = end
    else this.#parts.push({ start, end })
  }

  /** Returns the first offset in the whole text at which an unfinished secret may begin; `#length` if there is none. */
  #safeEnd(): number {
    if (this.#search === undefined) return this.#length
    const exact = this.#length - this.#search.depth(this.#cursor.state)
    return this.#wrapped?.isIdle === false ? Math.min(exact, this.#wrapped.earliest(this.#length)) : exact
  }

  /**
   * Removes the text before the offset `safe` from `#held`, and returns it masked. If a hidden part begins before this
   * offset and ends after it, `<secret-hidden>` is returned now, and a later call leaves out the rest of the part.
   */
  #give(safe: number): string {
    const from = this.#held.start
    const text = this.#held.takeTo(safe)
    let result = ''
    let position = Math.max(from, this.#markedEnd)
    let given = 0
    for (const { start, end } of this.#parts) {
      if (start >= safe) break
      result += text.slice(position - from, start - from) + secretMark
      position = this.#markedEnd = end
      given++
    }
    if (given > 0) this.#parts.splice(0, given)
    return position === from ? text : result + text.slice(position - from)
  }
}

/** Returns the offset after the margin at `from` if the next character cannot continue a secret; otherwise `from`. */
function endOfPlainMargin(text: string, from: number, mayGoOn: (codeUnit: number) => boolean): number {
  let end = from
  while (end < text.length && isMargin(text.charCodeAt(end))) end++
  return end < text.length && !mayGoOn(text.charCodeAt(end)) ? end : from
}

const wordPart = /[\p{L}\p{N}_]/u

/** True for letters, digits and the underscore; false for NaN, which `charCodeAt` returns outside of the text. */
function isWordPart(codeUnit: number): boolean {
  if (codeUnit < 0x80) {
    return (codeUnit >= 0x61 && codeUnit <= 0x7a) || (codeUnit >= 0x41 && codeUnit <= 0x5a) ||
      (codeUnit >= 0x30 && codeUnit <= 0x39) || codeUnit === 0x5f
  }
  return codeUnit >= 0x80 && wordPart.test(String.fromCharCode(codeUnit))
}
