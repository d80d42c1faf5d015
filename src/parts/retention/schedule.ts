/**
 * Decides when a running server applies the limits of retention.
 *
 * A pass removes the conversations that exceed a limit. It is due `everyMs` after the last pass, the first pass
 * `firstMs` after the start. A due pass waits up to `waitMs` for a quiet moment, in which no run is under way.
 */

export interface ScheduleOptions {
  /** Removes the conversations that exceed a limit, and resolves afterwards. Must not reject. */
  readonly pass: (signal: AbortSignal) => Promise<void>
  readonly isQuiet: () => boolean
  readonly clock: () => number
  readonly times?: ScheduleTimes
}

export interface ScheduleTimes {
  /** The time between two checks whether a pass is due (`Schedule.look`). */
  readonly lookMs: number
  /** The time from the start until the first pass is due. */
  readonly firstMs: number
  /** The time from the end of a pass until the next pass is due. */
  readonly everyMs: number
  /** The longest time that a due pass waits for a quiet moment. */
  readonly waitMs: number
}

const minute = 60_000
const usual: ScheduleTimes = { lookMs: minute, firstMs: 5 * minute, everyMs: 60 * minute, waitMs: 60 * minute }

export class Schedule {
  readonly #options: ScheduleOptions
  readonly #times: ScheduleTimes
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  #dueAt: number
  #pass: Promise<void> | undefined

  constructor(options: ScheduleOptions) {
    this.#options = options
    this.#times = options.times ?? usual
    this.#dueAt = options.clock() + this.#times.firstMs
    this.#timer = setInterval(() => this.look(), this.#times.lookMs)
    this.#timer.unref()
  }

  /** Begins a due pass if no run is under way (`isQuiet`) or the pass is `waitMs` late. Does nothing during a pass. */
  look(): void {
    const { isQuiet, clock, pass } = this.#options
    const late = clock() - this.#dueAt
    if (this.#pass !== undefined || this.#closing.signal.aborted || late < 0) return
    if (late < this.#times.waitMs && !isQuiet()) return
    this.#pass = pass(this.#closing.signal).finally(() => {
      this.#pass = undefined
      this.#dueAt = clock() + this.#times.everyMs
    })
  }

  /** Begins no other pass. Ends the running pass, after the removal of its current family (families.ts). Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#pass
  }
}
