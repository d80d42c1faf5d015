/**
 * Readings of a text across its line breaks: a secret that a terminal, a grid or `fold` has broken into lines, with
 * blanks, bars and line numbers between its parts.
 *
 * The exact reading of a text is the stream's. Here are the others: each leaves out a line break with the margin around
 * it, reads it as one blank or one line end, or leaves out a line number as well. A reading lives for as long as the
 * beginning of a pattern in it reaches across such a gap, so an ordinary text costs next to nothing. At most a few are
 * followed at a time, and gaps are limited in length and number: a text made to defeat this is not covered.
 */
import { isMargin, type PatternSearch } from './masking-search.ts'

/** A part of the text that a reading has left out, and the ones before it. */
interface Gap {
  readonly start: number
  readonly end: number
  /** How many code units of the pattern it stands for: 0, or 1 for a blank or a line end. */
  readonly units: number
  readonly previous: Gap | undefined
  readonly count: number
}

/** The beginning of a pattern, up to a place in the text. */
interface Beginning {
  readonly state: number
  readonly gap: Gap | undefined
}

/** What a reading is in: the text, or the number of a line, or what stands behind such a number. */
type Phase = 'text' | 'number' | 'behind number'

interface Reading {
  phase: Phase
  state: number
  /** The newest; while a number is left out, it is not complete. */
  gap: Gap
  digits: number
}

/** A run of blanks, line ends and bars that is being read, and what may go on behind it. */
interface Margin {
  readonly start: number
  hasBreak: boolean
  beginnings: readonly Beginning[]
}

const readingLimit = 8
/** Rows of a terminal are filled up with blanks to their width. */
const gapLimit = 512
const gapCountLimit = 64
const digitLimit = 7

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** How a gap is read: as nothing, as a blank, as a line end. */
const joints: readonly (readonly number[])[] = [[], [0x20], [lineFeed]]

export class WrappedReadings {
  readonly #search: PatternSearch
  readonly #onMatch: (start: number, end: number) => void
  readonly #readings: Reading[] = []
  #margin: Margin | undefined

  constructor(search: PatternSearch, onMatch: (start: number, end: number) => void) {
    this.#search = search
    this.#onMatch = onMatch
  }

  get isIdle(): boolean {
    return this.#margin === undefined && this.#readings.length === 0
  }

  /** Whether a pattern may go on behind a gap, of which the exact reading has this state in front of it. */
  mayGoOn(exact: number, codeUnit: number): boolean {
    if (isDigit(codeUnit)) return true
    return joints.some((joint) => this.#isJoined(this.#join(exact, joint), joint.length, codeUnit))
  }

  /** Takes the code unit at a position; `exact` is the state of the exact reading before it. */
  feed(codeUnit: number, position: number, exact: number): void {
    if (isMargin(codeUnit)) this.#growMargin(codeUnit, position, exact)
    else if (this.#margin !== undefined) {
      this.#readings.push(...this.#readOn(this.#margin, codeUnit, position))
      this.#margin = undefined
    }
    if (this.#readings.length > 0) this.#stepAll(codeUnit, position)
  }

  /** Drops those that have ended, and those that go on as one before them does. */
  #stepAll(codeUnit: number, position: number): void {
    const readings = this.#readings
    let alive = 0
    for (const reading of readings) {
      if (alive === readingLimit || !this.#step(reading, codeUnit, position)) continue
      if (!goesOnAlike(readings, alive, reading)) readings[alive++] = reading
    }
    readings.length = alive
  }

  /** Where the first of the patterns begins that may be going on at a position. */
  earliest(position: number): number {
    const { beginnings = [], start = position } = this.#margin ?? {}
    const starts = beginnings.map(({ state, gap }) => startOf(this.#search.depth(state), start, gap))
    for (const { phase, state, gap } of this.#readings) {
      const depth = this.#search.depth(state)
      starts.push(phase === 'text' ? startOf(depth, position, gap) : startOf(depth - gap.units, gap.start, gap.previous))
    }
    return Math.min(position, ...starts)
  }

  #growMargin(codeUnit: number, position: number, exact: number): void {
    if (this.#margin === undefined) {
      const readings = this.#readings.filter(({ phase, gap }) => phase === 'text' && gap.count < gapCountLimit)
      const beginnings: readonly Beginning[] = exact === 0 ? readings : [...readings, { state: exact, gap: undefined }]
      if (beginnings.length === 0) return
      this.#margin = { start: position, hasBreak: false, beginnings: beginnings.map(({ state, gap }) => ({ state, gap })) }
    }
    if (codeUnit === lineFeed || codeUnit === carriageReturn) this.#margin.hasBreak = true
    if (position - this.#margin.start > gapLimit) this.#margin.beginnings = []
  }

  /** What the beginnings before a margin may become behind it. */
  #readOn({ start, hasBreak, beginnings }: Margin, codeUnit: number, end: number): Reading[] {
    if (!hasBreak) return []
    const readings: Reading[] = []
    for (const { state, gap: previous } of beginnings) {
      for (const joint of joints) {
        const units = joint.length
        const joined = this.#join(state, joint)
        if (this.#search.depth(joined) <= units) continue
        const gap = { start, end, units, previous, count: (previous?.count ?? 0) + 1 }
        if (this.#isJoined(joined, units, codeUnit)) readings.push({ phase: 'text', state: joined, gap, digits: 0 })
        if (isDigit(codeUnit)) readings.push({ phase: 'number', state: joined, gap, digits: 0 })
      }
    }
    return readings
  }

  #join(state: number, joint: readonly number[]): number {
    return joint.reduce((from, unit) => this.#search.stepOrGiveUp(from, unit), state)
  }

  /** Whether the beginning of a pattern reaches across the gap to this code unit. */
  #isJoined(joined: number, units: number, codeUnit: number): boolean {
    return this.#search.depth(this.#search.stepOrGiveUp(joined, codeUnit)) > units + 1
  }

  /** False when nothing in this reading reaches across its newest gap any more. */
  #step(reading: Reading, codeUnit: number, position: number): boolean {
    if (reading.phase === 'number') {
      if (isDigit(codeUnit)) return ++reading.digits <= digitLimit
      reading.phase = 'behind number'
      return isSeparator(codeUnit)
    }
    if (reading.phase === 'behind number') {
      if (isSeparator(codeUnit)) return position - reading.gap.start <= gapLimit
      reading.phase = 'text'
      reading.gap = { ...reading.gap, end: position }
    }
    const { gap } = reading
    reading.state = this.#search.stepOrGiveUp(reading.state, codeUnit)
    const length = this.#search.matchLength(reading.state)
    if (length > 0) this.#onMatch(startOf(length, position + 1, gap), position + 1)
    return this.#search.depth(reading.state) > position + 1 - gap.end + gap.units
  }
}

/** Where a pattern begins of which so many code units were read up to a place. */
function startOf(length: number, place: number, newest: Gap | undefined): number {
  let left = length
  let end = place
  for (let gap = newest; gap !== undefined && left > end - gap.end; gap = gap.previous) {
    left = Math.max(0, left - (end - gap.end) - gap.units)
    end = gap.start
  }
  return end - left
}

/** Readings in the same state go on alike. */
function goesOnAlike(readings: readonly Reading[], count: number, { phase, state }: Reading): boolean {
  for (let place = 0; place < count; place++) {
    const other = readings[place]
    if (other?.state === state && other.phase === phase) return true
  }
  return false
}

function isDigit(codeUnit: number): boolean {
  return codeUnit >= 0x30 && codeUnit <= 0x39
}

/** A margin, or one of `. : ) ] > - =` and the arrow that some tools put behind a number. */
function isSeparator(codeUnit: number): boolean {
  return isMargin(codeUnit) || [0x2e, 0x3a, 0x29, 0x5d, 0x3e, 0x2d, 0x3d, 0x2192].includes(codeUnit)
}
