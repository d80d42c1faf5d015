/**
 * The size of the data folder, without a walk for each question.
 *
 * The folder is walked now and then, in the background. Between two walks the bytes that were written to logs are
 * added. What is deleted counts until the next walk, which an answer "full" begins early.
 */
import type { Clock } from '../../base/stamp.ts'
import { folderBytes } from './folder-size.ts'

export interface DiskUsageOptions {
  readonly folder: string
  readonly clock: Clock
  /** Returns the bytes that were written to logs since the start. */
  readonly written: () => number
}

/** The time between two walks, and the least time before an early walk. */
const everyMs = 5 * 60_000
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
    // The server counts nothing before its parts have started.
    setImmediate(() => this.#start())
  }

  /** The bytes of the folder; until the first walk has ended, those written since the start. */
  get bytes(): number {
    return this.#measured + Math.max(0, this.#options.written() - this.#before)
  }

  /** Begins a walk, unless one ended a short time ago. */
  refresh(): void {
    if (this.#options.clock() - this.#walkedAt >= atLeastMs) this.#start()
  }

  /** Ends the walk. Idempotent. */
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
