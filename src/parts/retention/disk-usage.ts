/**
 * Knows the size of the data folder at any time.
 *
 * Every five minutes a walk through the folder adds up the sizes of its files, in the background. Between two walks,
 * the bytes that are written to logs are added. Deleted files count until the next walk. The next walk begins early
 * when a request is refused because the folder is full.
 */
import type { Clock } from '../../base/stamp.ts'
import { folderBytes } from './folder-size.ts'

export interface DiskUsageOptions {
  readonly folder: string
  readonly clock: Clock
  /** Returns the bytes that were written to logs since the start. */
  readonly written: () => number
}

/** The time between two walks. */
const everyMs = 5 * 60_000
/** The least time between the end of a walk and an early walk. */
const atLeastMs = 1000

export class DiskUsage {
  readonly #options: DiskUsageOptions
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  #measured = 0
  /** The bytes that were written to logs when the last walk began. */
  #before = 0
  #walkedAt = -Infinity
  #walk: Promise<void> | undefined

  constructor(options: DiskUsageOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#start(), everyMs)
    this.#timer.unref()
    // `written` counts nothing before the parts have started, so the first walk waits for their start.
    setImmediate(() => this.#start())
  }

  /**
   * The bytes of the folder at the last walk, and the bytes written to logs since then. Before the first walk it is
   * only the bytes written to logs.
   */
  get bytes(): number {
    return this.#measured + Math.max(0, this.#options.written() - this.#before)
  }

  /** Begins a walk, unless one is under way or ended less than `atLeastMs` ago. */
  refresh(): void {
    if (this.#options.clock() - this.#walkedAt >= atLeastMs) this.#start()
  }

  /** Ends the running walk, and begins no other walk. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#walk
  }

  #start(): void {
    if (this.#walk !== undefined || this.#closing.signal.aborted) return
    // A walk that fails leaves the last measurement. The timer starts the next walk.
    this.#walk = this.#measure().catch(() => undefined).finally(() => (this.#walk = undefined))
  }

  async #measure(): Promise<void> {
    const { folder, clock, written } = this.#options
    const before = written()
    this.#measured = await folderBytes(folder, this.#closing.signal)
    this.#before = before
    this.#walkedAt = clock()
  }
}
