/**
 * Timers as an argument, so that tests decide when time passes.
 *
 * Only waiting is here: nothing knows what the time is, and a wait that is to be given up with a signal belongs to
 * base/wait. A callback is called at most once and never at once.
 */

export interface Timers {
  /** Calls back once after `ms`, unless it is stopped or restarted first. */
  after(ms: number, callback: () => void): Timer
}

/** Neither has an effect on a timer that has called back, or was stopped. */
export interface Timer {
  stop(): void
  /** Lets all of its time pass again. */
  restart(): void
}

/** What setTimeout can wait for (about 24 days); it takes more for nothing. */
const longestMs = 2 ** 31 - 1

/** The timers of the process. They keep it alive: whoever starts one ends it when it closes. */
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
        // `refresh` would also wake one that is over.
        if (!isOver) timer.refresh()
      },
    }
  },
}
