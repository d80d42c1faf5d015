/**
 * Which bytes of a log this process has found sound, so that they are not hashed again each time they are read.
 *
 * It holds for the bytes that were read then. What a disk changes later is found when the log is opened again, or by
 * `verify`, which believes nothing that is in memory. Lines before the end of the log never change, so nothing is ever
 * taken out, but for the oldest range when there are too many.
 */

interface Range {
  readonly from: number
  readonly to: number
}

const maxRanges = 64

export class CheckedRanges {
  /** In the order in which they were found; no two touch. */
  #ranges: Range[] = []

  /** Whether all bytes from one offset up to another are known. */
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
