/** Calls a measuring function at an interval in the background. No two calls run at the same time. */
import type { Clock } from '../../base/stamp.ts'

export interface MeasuringOptions {
  /** The interval in milliseconds at which a measurement begins, if no other is under way. */
  readonly everyMs: number
  readonly clock: Clock
  /** Measures once. May reject. */
  readonly measure: (signal: AbortSignal) => Promise<void>
}

/** The time in milliseconds for which `refresh` begins no measurement after a successful one. */
const atLeastMs = 1000

export class Measuring {
  readonly #options: MeasuringOptions
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  #endedAt = -Infinity
  #current: Promise<void> | undefined

  constructor(options: MeasuringOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#start(), options.everyMs)
    this.#timer.unref()
  }

  /** Begins a measurement. Does nothing during another, for `atLeastMs` after a successful one, and after `close`. */
  refresh(): void {
    if (this.#options.clock() - this.#endedAt >= atLeastMs) this.#start()
  }

  /** Resolves when no measurement is under way. */
  async idle(): Promise<void> {
    await this.#current
  }

  /** Ends the running measurement, and begins no other measurement. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.idle()
  }

  #start(): void {
    if (this.#current !== undefined || this.#closing.signal.aborted) return
    // The error of a failed measurement is dropped, because the timer soon starts another measurement.
    this.#current = this.#measure().catch(() => undefined).finally(() => (this.#current = undefined))
  }

  async #measure(): Promise<void> {
    await this.#options.measure(this.#closing.signal)
    this.#endedAt = this.#options.clock()
  }
}
