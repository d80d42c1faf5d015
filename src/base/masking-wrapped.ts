/**
 * Finds a secret that a terminal, a grid or `fold` has broken into lines, with blanks, bars and line numbers between
 * its parts.
 *
 * A pattern is a text to find: a secret in one of its forms. A `Reading` is a guess that a pattern has begun and goes
 * on after a line break. The break and the margin around it stand for nothing, a blank or a line end of the pattern.
 * Only `readingLimit` guesses are followed at a time, so a text can be made in which a secret stays visible.
 */
import { isMargin, type PatternSearch } from './masking-search.ts'

/** The text at a place where a pattern is broken: a margin with a line break in it, and perhaps a line number. */
interface Gap {
  readonly start: number
  readonly end: number
  /** The number of code units of the pattern for which the gap stands: 1 for a blank or a line end, 0 for nothing. */
  readonly units: number
  readonly previous: Gap | undefined
  /** The number of gaps in the pattern so far, this gap included. */
  readonly count: number
}

/** The beginning of a pattern, with which the text so far ends: its state in the search, and its last gap, if any. */
interface Beginning {
  readonly state: number
  readonly gap: Gap | undefined
}

/** What a reading reads next: text of the pattern, a line number in a gap, or the separators after that number. */
type Phase = 'text' | 'number' | 'behind number'

interface Reading {
  phase: Phase
  state: number
  /** The last gap. In the phases `number` and `behind number`, its `end` is the offset where the line number begins. */
  gap: Gap
  digits: number
}

/** The margin that is being read, and the beginnings of patterns that may continue after the margin. */
interface Margin {
  readonly start: number
  hasBreak: boolean
  beginnings: readonly Beginning[]
}

const readingLimit = 8
/** The approximate limit on the length of a gap. A gap can be long, because terminals fill their rows with blanks. */
const gapLimit = 512
const gapCountLimit = 64
const digitLimit = 7

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** The code units of a pattern for which a gap can stand: none, a blank, a line end. */
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

  /**
   * True when a pattern may continue with this code unit after a gap, or when it is a digit, which may begin a line
   * number. `exact` is the state of TextMasking's search before the gap.
   */
  mayGoOn(exact: number, codeUnit: number): boolean {
    if (isDigit(codeUnit)) return true
    return joints.some((joint) => this.#isJoined(this.#join(exact, joint), joint.length, codeUnit))
  }

  /** Reads the code unit at a position. `exact` is the state of TextMasking's search before this code unit. */
  feed(codeUnit: number, position: number, exact: number): void {
    if (isMargin(codeUnit)) this.#growMargin(codeUnit, position, exact)
    else if (this.#margin !== undefined) {
      this.#readings.push(...this.#readOn(this.#margin, codeUnit, position))
      this.#margin = undefined
    }
    if (this.#readings.length > 0) this.#stepAll(codeUnit, position)
  }

  /** Passes a code unit to each reading. Then removes ended and equal readings, and readings above `readingLimit`. */
  #stepAll(codeUnit: number, position: number): void {
    const readings = this.#readings
    let alive = 0
    for (const reading of readings) {
      if (alive === readingLimit || !this.#step(reading, codeUnit, position)) continue
      if (!goesOnAlike(readings, alive, reading)) readings[alive++] = reading
    }
    readings.length = alive
  }

  /** Returns the first offset in the text at which an unfinished pattern may begin; `position` when there is none. */
  earliest(position: number): number {
    const { beginnings = [], start = position } = this.#margin ?? {}
    const starts = beginnings.map(({ state, gap }) => startOf(this.#search.depth(state), start, gap))
    for (const { phase, state, gap } of this.#readings) {
      const depth = this.#search.depth(state)
      const isText = phase === 'text'
      starts.push(isText ? startOf(depth, position, gap) : startOf(depth - gap.units, gap.start, gap.previous))
    }
    return Math.min(position, ...starts)
  }

  #growMargin(codeUnit: number, position: number, exact: number): void {
    if (this.#margin === undefined) {
      const readings = this.#readings.filter(({ phase, gap }) => phase === 'text' && gap.count < gapCountLimit)
      const beginnings: readonly Beginning[] = exact === 0 ? readings : [...readings, { state: exact, gap: undefined }]
      if (beginnings.length === 0) return
      const open = beginnings.map(({ state, gap }) => ({ state, gap }))
      this.#margin = { start: position, hasBreak: false, beginnings: open }
    }
    if (codeUnit === lineFeed || codeUnit === carriageReturn) this.#margin.hasBreak = true
    if (position - this.#margin.start > gapLimit) this.#margin.beginnings = []
  }

  /** Returns the readings that can go on with `codeUnit` after the margin; none if the margin has no line break. */
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

  /** True when a pattern goes on with this code unit. `joined`: the state after a gap that stands for `units` units. */
  #isJoined(joined: number, units: number, codeUnit: number): boolean {
    return this.#search.depth(this.#search.stepOrGiveUp(joined, codeUnit)) > units + 1
  }

  /** Passes a code unit to one reading. Returns false when the reading has ended. */
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

/** Returns the offset at which a pattern begins. Its first `length` units end at `place`; `newest` is its last gap. */
function startOf(length: number, place: number, newest: Gap | undefined): number {
  let left = length
  let end = place
  for (let gap = newest; gap !== undefined && left > end - gap.end; gap = gap.previous) {
    left = Math.max(0, left - (end - gap.end) - gap.units)
    end = gap.start
  }
  return end - left
}

/** True when one of the first `count` readings has this phase and state. */
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

/** True for a margin character, for `. : ) ] > - =`, and for the arrow that some tools print after a line number. */
function isSeparator(codeUnit: number): boolean {
  return isMargin(codeUnit) || [0x2e, 0x3a, 0x29, 0x5d, 0x3e, 0x2d, 0x3d, 0x2192].includes(codeUnit)
}
