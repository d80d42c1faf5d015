/**
 * An interface for timers. Code gets its timers as an argument, so that tests decide when time passes.
 *
 * A callback is called at most once, and never before `after` has returned.
 */

export interface Timers {
  /** Calls `callback` once after `ms` (at most 24 days), unless the timer is stopped. */
  after(ms: number, callback: () => void): Timer
}

/** A started timer. Its methods have no effect after the callback or `stop`. */
export interface Timer {
  stop(): void
  /** Starts the time again from zero. */
  restart(): void
}

/** The longest time that setTimeout can wait, about 24 days. With a longer time it would call back at once. */
const longestMs = 2 ** 31 - 1

/** The timers of the process. A running timer keeps the process alive: stop each timer on close. */
export const systemTimers: Timers = {
  after(ms, callback) {
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      callback()
    }, Math.min(ms, longestMs))
    return {
      stop() {
        isOver = true
        clearTimeout(timer)
      },
      restart() {
        // `refresh` would also restart a timer that has fired.
        if (!isOver) timer.refresh()
      },
    }
  },
}
