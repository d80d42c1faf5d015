/**
 * Waits until the agent has announced the tool calls of a permission request that does not describe its calls.
 *
 * OpenHands sends the request and announces the calls from two threads, so the request may come first
 * (`agents/acp/agents.md`).
 */
import { deferred, type Deferred } from '../../../base/wait.ts'
import type { Timers } from './timers.ts'

/** The longest wait until the agent announces the first call of a permission request. */
const firstLimitMs = 1000
/** The wait for further calls of the request, after the wait for its first call. */
const othersMs = 100

export class Announcements {
  readonly #timers: Timers
  /** The waits for the first call of a permission request. `#others` has the waits for further calls. */
  readonly #firsts = new Set<Deferred<void>>()
  readonly #others = new Set<Deferred<void>>()
  #isClosed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /**
   * Waits at most `firstLimitMs` for the first call, then `othersMs` for further calls.
   * @param hasCall true when the agent has announced a call already: then only the second wait takes place
   * @param withdrawn ends both waits when it is aborted
   */
  async settled(hasCall: boolean, withdrawn: AbortSignal): Promise<void> {
    if (!hasCall) await this.#wait(this.#firsts, firstLimitMs, withdrawn)
    await this.#wait(this.#others, othersMs, withdrawn)
  }

  /** Tells that the agent has announced a tool call. Ends the waits for the first call of a permission request. */
  announced(): void {
    resolveAll(this.#firsts)
  }

  close(): void {
    this.#isClosed = true
    resolveAll(this.#firsts)
    resolveAll(this.#others)
  }

  async #wait(waits: Set<Deferred<void>>, ms: number, withdrawn: AbortSignal): Promise<void> {
    if (this.#isClosed || withdrawn.aborted) return
    const over = deferred<void>()
    const end = (): void => over.resolve()
    waits.add(over)
    withdrawn.addEventListener('abort', end, { once: true })
    const timer = this.#timers.after(ms, end)
    await over.promise
    timer.stop()
    withdrawn.removeEventListener('abort', end)
    waits.delete(over)
  }
}

function resolveAll(waits: ReadonlySet<Deferred<void>>): void {
  for (const wait of waits) wait.resolve()
}
