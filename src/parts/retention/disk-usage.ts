/**
 * Estimates the size of the data folder.
 *
 * A walk adds up the disk space of everything in the folder. Bytes that were written to logs since the last complete
 * walk began are added. Until the next walk, deleted files still count, and new files that are no logs do not.
 */
import type { Clock } from '../../base/stamp.ts'
import { folderBytes } from './folder-size.ts'
import { Measuring } from './measuring.ts'

export interface DiskUsageOptions {
  readonly folder: string
  readonly clock: Clock
  /** Returns the bytes that were written to logs since the start of the server. */
  readonly written: () => number
}

/** The interval at which walks through the data folder begin. */
const everyMs = 5 * 60_000

export class DiskUsage {
  readonly #options: DiskUsageOptions
  readonly #walks: Measuring
  #measured = 0
  /** The result of `written` when the last complete walk through the data folder began. */
  #before = 0

  constructor(options: DiskUsageOptions) {
    this.#options = options
    this.#walks = new Measuring({ everyMs, clock: options.clock, measure: (signal) => this.#measure(signal) })
    // Begins the first walk after the current turn of the event loop.
    setImmediate(() => this.refresh())
  }

  /** The sum of the last complete walk (0 before the first), plus the bytes written to logs since that walk began. */
  get bytes(): number {
    return this.#measured + Math.max(0, this.#options.written() - this.#before)
  }

  /** Begins a walk. Does nothing during a walk, for a second after a complete walk, and after `close`. */
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
