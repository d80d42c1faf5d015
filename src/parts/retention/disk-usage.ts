/**
 * Knows the size of the data folder at any time.
 *
 * Every five minutes a walk through the folder adds up the sizes of its files, in the background. Between two walks,
 * the bytes that are written to logs are added. Deleted files count until the next walk. The next walk begins early
 * when a request is refused because the folder is full.
 */
import type { Clock } from '../../base/stamp.ts'
import { folderBytes } from './folder-size.ts'
import { Measuring } from './measuring.ts'

export interface DiskUsageOptions {
  readonly folder: string
  readonly clock: Clock
  /** Returns the bytes that were written to logs since the start. */
  readonly written: () => number
}

/** The time between two walks. */
const everyMs = 5 * 60_000

export class DiskUsage {
  readonly #options: DiskUsageOptions
  readonly #walks: Measuring
  #measured = 0
  /** The bytes that were written to logs when the last walk began. */
  #before = 0

  constructor(options: DiskUsageOptions) {
    this.#options = options
    this.#walks = new Measuring({ everyMs, clock: options.clock, measure: (signal) => this.#measure(signal) })
    // `written` counts nothing before the parts have started, so the first walk waits for their start.
    setImmediate(() => this.refresh())
  }

  /**
   * The bytes of the folder at the last walk, and the bytes written to logs since then. Before the first walk it is
   * only the bytes written to logs.
   */
  get bytes(): number {
    return this.#measured + Math.max(0, this.#options.written() - this.#before)
  }

  /** Begins a walk, unless one is under way or ended a moment ago. */
  refresh(): void {
    this.#walks.refresh()
  }

  /** Ends the running walk, and begins no other walk. Idempotent. */
  close(): Promise<void> {
    return this.#walks.close()
  }

  async #measure(signal: AbortSignal): Promise<void> {
    const before = this.#options.written()
    this.#measured = await folderBytes(this.#options.folder, signal)
    this.#before = before
  }
}
