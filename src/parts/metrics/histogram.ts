/** Counts values by size in buckets, for a histogram of Prometheus. */
import { formatNumber, type Labels, type Sample } from './exposition.ts'

export class Histogram {
  readonly #bounds: readonly number[]
  /** The number of values in each bucket, not cumulative; the last bucket is for values above all bounds. */
  readonly #counts: number[]
  #sum = 0

  /** @param bounds the upper bounds of the buckets, in ascending order */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Array<number>(bounds.length + 1).fill(0)
  }

  add(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? Infinity)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  /** Returns the cumulative buckets, the sum and the count. */
  samples(labels: Labels = {}): Sample[] {
    let below = 0
    const buckets = this.#counts.map((count, bucket): Sample => {
      below += count
      const le = formatNumber(this.#bounds[bucket] ?? Infinity)
      return { suffix: '_bucket', labels: { ...labels, le }, value: below }
    })
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: below }]
  }
}
