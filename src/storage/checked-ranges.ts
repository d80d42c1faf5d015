/**
 * Remembers the byte ranges of a log whose lines were checked and found to fit the hash chain.
 *
 * The server changes no line, so a checked range need not be checked again. The newest `maxRanges` ranges are kept.
 */

interface Range {
  readonly from: number
  readonly to: number
}

const maxRanges = 64

export class CheckedRanges {
  /** The checked byte ranges. The newest is the last. Ranges that overlap or touch are joined. */
  #ranges: Range[] = []

  covers(from: number, to: number): boolean {
    return this.#ranges.some((range) => range.from <= from && range.to >= to)
  }

  add(from: number, to: number): void {
    const touches = (range: Range): boolean => range.from <= to && range.to >= from
    const touched = this.#ranges.filter(touches)
    const joined = {
      from: Math.min(from, ...touched.map((range) => range.from)),
      to: Math.max(to, ...touched.map((range) => range.to)),
    }
    this.#ranges = [...this.#ranges.filter((range) => !touches(range)), joined].slice(-maxRanges)
  }
}
