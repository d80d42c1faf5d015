/**
 * Masks secret values in texts that are recorded, shown or sent on: each value is replaced by `<secret-hidden>`.
 *
 * A value of 8 characters or more is found anywhere and in several forms (masking-forms). A value of 4 to 7 characters
 * is found only as a whole word. Shorter and ordinary values are not masked (masking-values).
 */
import { AppError } from './errors.ts'
import { secretForms } from './masking-forms.ts'
import { PatternSearch } from './masking-search.ts'
import { TextMasking, type CurrentSearch } from './masking-stream.ts'
import { maskingOf, maskedText } from './masking-values.ts'

export { secretMark } from './masking-stream.ts'

export interface Masker {
  /**
   * Hides these values until the returned function is called. A value that was registered twice stays hidden until both
   * functions are called.
   * @throws AppError `invalid_input` when the forms of all values (masking-forms) would have too many characters
   */
  register(values: Iterable<string>): () => void
  mask(text: string): string
  /** Returns a stream that masks one text. */
  stream(): MaskingStream
}

export interface MaskingStream {
  /** True when the registered values changed after a part of the text was returned: that part may show a new secret. */
  readonly isOutdated: boolean
  /** Adds the next chunk, and returns masked text. An end that may begin a secret is held back for a later call. */
  push(chunk: string): string
  /** Ends the text and returns the rest of it, masked. The stream may then mask another text. */
  end(): string
}

export interface MaskerOptions {
  /** The most characters of all forms of all values together. Default: 2^20. A character needs up to 35 bytes. */
  readonly limitChars?: number
}

/** The forms of a registered value, and how often the value is registered at present. */
interface Hidden {
  readonly forms: readonly string[]
  readonly isWord: boolean
  count: number
}

export function createMasker({ limitChars = 1_048_576 }: MaskerOptions = {}): Masker {
  const hidden = new Map<string, Hidden>()
  let totalChars = 0
  let search: PatternSearch | undefined
  let isStale = false

  const release = (value: string): void => {
    const entry = hidden.get(value)
    if (entry === undefined || --entry.count > 0) return
    hidden.delete(value)
    totalChars -= charsOf(entry)
    isStale = true
  }
  const currentSearch: CurrentSearch = () => {
    if (isStale) search = hidden.size === 0 ? undefined : new PatternSearch(patternsOf([...hidden.values()]))
    isStale = false
    return search
  }

  return {
    register(values) {
      const wanted = [...new Set([...values].map(maskedText))].filter((value) => maskingOf(value) !== 'none')
      const added = wanted.filter((value) => !hidden.has(value)).map((value) => [value, hide(value)] as const)
      const addedChars = added.reduce((sum, [, entry]) => sum + charsOf(entry), 0)
      if (totalChars + addedChars > limitChars) {
        const problem = `expected at most ${limitChars} characters in all their forms`
        throw new AppError('invalid_input', `Cannot hide more secrets: ${problem}`)
      }
      for (const [value, entry] of added) hidden.set(value, entry)
      totalChars += addedChars
      isStale ||= added.length > 0
      for (const value of wanted) count(hidden.get(value))
      return () => wanted.splice(0).forEach(release)
    },
    mask(text) {
      // A fast check: most texts hold no secret.
      if (currentSearch()?.isFree(text) !== false) return text
      const masking = new TextMasking(currentSearch)
      return masking.push(text) + masking.end()
    },
    stream: () => new TextMasking(currentSearch),
  }
}

function hide(value: string): Hidden {
  const isWord = maskingOf(value) === 'whole words'
  return { isWord, forms: isWord ? [value] : secretForms(value), count: 0 }
}

function count(entry: Hidden | undefined): void {
  if (entry !== undefined) entry.count++
}

function charsOf({ forms }: Hidden): number {
  return forms.reduce((sum, { length }) => sum + length, 0)
}

function patternsOf(
  entries: readonly Hidden[],
): { readonly texts: readonly string[]; readonly words: readonly string[] } {
  const formsOf = (wanted: readonly Hidden[]): readonly string[] => wanted.flatMap(({ forms }) => forms)
  const [texts, words] = [entries.filter(({ isWord }) => !isWord), entries.filter(({ isWord }) => isWord)]
  return { texts: formsOf(texts), words: formsOf(words) }
}
