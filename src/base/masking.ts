/**
 * Hides secret values in everything that leaves: a changing set of values, and text with each of their forms
 * (masking-forms) replaced by `<secret-hidden>`.
 *
 * One pass over the text; free while nothing is registered. Matches that overlap become one mark. A stream gives the
 * same result for any way of cutting the text into chunks, and holds back less than the longest form. Values shorter
 * than 8 characters are ignored: they occur by chance, and hiding them would mangle ordinary text.
 */
import { AppError } from './errors.ts'
import { secretForms } from './masking-forms.ts'
import { createPatternSearch, type PatternSearch } from './masking-search.ts'

/** What stands in the place of a secret. */
export const secretMark = '<secret-hidden>'

/** The shortest value that is hidden. */
export const minSecretLength = 8

export interface Masker {
  /**
   * Hides these values from now on, until the returned function is called. The same value may be registered twice.
   * @throws AppError `invalid_input` when all values together would exceed the limit.
   */
  register(values: Iterable<string>): () => void
  mask(text: string): string
  /** Masks one text that arrives in chunks. */
  stream(): MaskingStream
}

export interface MaskingStream {
  /** Takes the next chunk and gives what is certain by now. */
  push(chunk: string): string
  /** Gives the rest. The stream may then be used for another text. */
  end(): string
}

export interface MaskerOptions {
  /** How many characters all registered values may have together; each costs about 300 bytes of memory. */
  readonly limitChars?: number
}

/** The search of the moment; undefined while nothing is registered. */
type CurrentSearch = () => PatternSearch | undefined

export function createMasker({ limitChars = 262_144 }: MaskerOptions = {}): Masker {
  const counts = new Map<string, number>()
  let totalChars = 0
  let search: PatternSearch | undefined
  let stale = false

  const add = (value: string): void => {
    const count = counts.get(value) ?? 0
    counts.set(value, count + 1)
    if (count > 0) return
    totalChars += value.length
    stale = true
  }
  const remove = (value: string): void => {
    const count = counts.get(value) ?? 0
    if (count > 1) return void counts.set(value, count - 1)
    counts.delete(value)
    totalChars -= value.length
    stale = true
  }
  const currentSearch: CurrentSearch = () => {
    if (stale) search = counts.size === 0 ? undefined : createPatternSearch([...counts.keys()].flatMap(secretForms))
    stale = false
    return search
  }

  return {
    register(values) {
      const hidden = [...values].flatMap(worthHiding)
      const added = [...new Set(hidden)].reduce((sum, value) => sum + (counts.has(value) ? 0 : value.length), 0)
      if (totalChars + added > limitChars) {
        throw new AppError('invalid_input', `Cannot hide more secrets: expected at most ${limitChars} characters`)
      }
      hidden.forEach(add)
      return () => hidden.splice(0).forEach(remove)
    },
    mask(text) {
      if (currentSearch() === undefined) return text
      const stream = createStream(currentSearch)
      return stream.push(text) + stream.end()
    },
    stream: () => createStream(currentSearch),
  }
}

/** The part of a value to look for: without the blanks around it, which often get lost. Nothing if it is too short. */
function worthHiding(value: string): string[] {
  const trimmed = value.trim()
  const wanted = trimmed.length >= minSecretLength ? trimmed : value
  return wanted.trim() === '' || wanted.length < minSecretLength || secretMark.includes(wanted) ? [] : [wanted]
}

/** A part of a text that is replaced by one mark. */
interface HiddenPart {
  readonly start: number
  readonly end: number
  /** It goes on a part whose mark has been given out already. */
  readonly marked: boolean
}

function createStream(currentSearch: CurrentSearch): MaskingStream {
  let search: PatternSearch | undefined
  let state = 0
  /** Text whose end may be the beginning of a secret, and what is hidden in it so far. */
  let held = ''
  let parts: HiddenPart[] = []

  const scan = (text: string, from: number): void => {
    if (search === undefined) return
    for (let index = from; index < text.length; index++) {
      state = search.step(state, text.charCodeAt(index))
      // Where no pattern has begun, as mostly, none ends.
      const length = state === 0 ? 0 : search.matchLength(state)
      if (length > 0) hide(parts, index + 1 - length, index + 1)
    }
  }

  return {
    push(chunk) {
      const text = held + chunk
      const newest = currentSearch()
      if (newest === search) scan(text, held.length)
      else {
        // The set has changed: what is held is read again with the new one.
        search = newest
        state = 0
        parts = parts.filter((part) => part.marked)
        scan(text, 0)
      }
      const safe = text.length - (search?.depth(state) ?? 0)
      const ready = render(text, parts, safe)
      held = text.slice(safe)
      parts = partsAfter(parts, safe)
      return ready
    },
    end() {
      const rest = render(held, parts, held.length)
      held = ''
      parts = []
      state = 0
      return rest
    },
  }
}

/** Adds a match, united with those it overlaps. Matches come in the order of their ends. */
function hide(parts: HiddenPart[], matchStart: number, matchEnd: number): void {
  let start = matchStart
  let end = matchEnd
  let marked = false
  for (let last = parts.at(-1); last !== undefined && last.end > start; last = parts.at(-1)) {
    start = Math.min(start, last.start)
    end = Math.max(end, last.end)
    marked ||= last.marked
    parts.pop()
  }
  parts.push({ start, end, marked })
}

/** The text up to `safe`. A hidden part that begins before it gets its mark now, wherever it ends. */
function render(text: string, parts: readonly HiddenPart[], safe: number): string {
  let result = ''
  let position = 0
  for (const part of parts) {
    if (part.start >= safe) break
    result += text.slice(position, part.start)
    if (!part.marked) result += secretMark
    position = part.end
  }
  return position < safe ? result + text.slice(position, safe) : result
}

/** What is hidden behind `safe`, counted from there. */
function partsAfter(parts: readonly HiddenPart[], safe: number): HiddenPart[] {
  return parts
    .filter((part) => part.end > safe)
    .map((part) => ({
      start: Math.max(0, part.start - safe),
      end: part.end - safe,
      marked: part.marked || part.start < safe,
    }))
}
