/**
 * The newest events of open logs, kept in memory so that reading what was just written touches no file.
 *
 * Each log keeps up to `logBytes` of its newest events. All logs of a cache together keep up to `totalBytes`: beyond
 * that, the log that was written to least recently loses all of its own. What is evicted is read from the file.
 */

export interface LineCacheOptions {
  /** 1 MiB unless told. */
  readonly logBytes?: number
  /** 64 MiB unless told. */
  readonly totalBytes?: number
}

export class LineCache {
  readonly logBytes: number
  readonly totalBytes: number
  /** Least recently written to first: a Set keeps the order in which its members were added. */
  readonly #tails = new Set<CachedTail>()
  /** The last of them. */
  #newest: CachedTail | undefined
  #bytes = 0

  constructor(options: LineCacheOptions = {}) {
    this.logBytes = options.logBytes ?? 1024 * 1024
    this.totalBytes = options.totalBytes ?? 64 * 1024 * 1024
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The part of one log; it is empty until events are pushed. */
  open(): CachedTail {
    return new CachedTail(this)
  }

  /** For CachedTail: it was written to and its size has changed by so much. */
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

/** The newest events of one log, by number. */
export class CachedTail {
  readonly #cache: LineCache
  /** Events `#first`, `#first + 1`, ...; the places before `#begin` are empty. */
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

  /** Adds event `number`, which follows the last one that was added. */
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
    // Moving the rest down once for every doubling keeps the cost of an eviction constant.
    if (this.#begin * 2 < this.#lines.length) return
    this.#lines.splice(0, this.#begin)
    this.#first += this.#begin
    this.#begin = 0
  }
}
