/**
 * A cache of the newest events of open logs.
 *
 * It has up to `logBytes` of each log, and up to `totalBytes` of all logs. Above `totalBytes`, the least recently
 * written logs lose their cached events.
 */

export interface LineCacheOptions {
  /** The most bytes of events of one log. Default: 1 MiB. */
  readonly logBytes?: number
  /** The most bytes of events of all logs together. Default: 64 MiB. */
  readonly totalBytes?: number
}

export class LineCache {
  readonly logBytes: number
  readonly totalBytes: number
  /** The tails (`CachedTail`) that have events, the least recently written first: a Set keeps insertion order. */
  readonly #tails = new Set<CachedTail>()
  /** The tail that changed last, which is the last item of `#tails`; undefined if this tail is empty now. */
  #newest: CachedTail | undefined
  #bytes = 0

  constructor(options: LineCacheOptions = {}) {
    this.logBytes = options.logBytes ?? 1024 * 1024
    this.totalBytes = options.totalBytes ?? 64 * 1024 * 1024
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Creates the cache for the newest events of one log. It is empty at first. */
  open(): CachedTail {
    return new CachedTail(this)
  }

  /**
   * Called when a tail, the newest events of one log, has grown or shrunk by `byBytes`. While all tails together have
   * more than `totalBytes`, clears the least recently written tail.
   */
  changed(tail: CachedTail, byBytes: number): void {
    this.#bytes += byBytes
    if (tail !== this.#newest || tail.bytes === 0) {
      this.#tails.delete(tail)
      if (tail.bytes > 0) this.#tails.add(tail)
      this.#newest = tail.bytes > 0 ? tail : undefined
    }
    for (const oldest of this.#tails) {
      if (this.#bytes <= this.totalBytes) break
      oldest.clear()
    }
  }
}

/** The newest events of a log, by seq. */
export class CachedTail {
  readonly #cache: LineCache
  /** The JSON of the events from seq `#first` on. The first `#begin` items are undefined: their events were evicted. */
  #lines: (Buffer | undefined)[] = []
  #begin = 0
  #first = 0
  #bytes = 0

  constructor(cache: LineCache) {
    this.#cache = cache
  }

  get bytes(): number {
    return this.#bytes
  }

  get(number: number): Buffer | undefined {
    return this.#lines[number - this.#first]
  }

  /** Adds the event with the seq `number`, which follows the last added event. */
  push(number: number, json: Buffer): void {
    const before = this.#bytes
    if (this.#lines.length === 0) this.#first = number
    this.#lines.push(json)
    this.#bytes += json.length
    while (this.#bytes > this.#cache.logBytes) this.#evictOldest()
    this.#cache.changed(this, this.#bytes - before)
  }

  clear(): void {
    const before = this.#bytes
    this.#lines = []
    this.#begin = 0
    this.#bytes = 0
    this.#cache.changed(this, -before)
  }

  #evictOldest(): void {
    this.#bytes -= this.#lines[this.#begin]?.length ?? 0
    this.#lines[this.#begin++] = undefined
    // Removes undefined items only when they are at least half of all. So the average cost of an eviction is constant.
    if (this.#begin * 2 < this.#lines.length) return
    this.#lines.splice(0, this.#begin)
    this.#first += this.#begin
    this.#begin = 0
  }
}
