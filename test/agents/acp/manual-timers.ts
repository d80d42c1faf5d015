/** Timers that run when a test says so. */
import type { Timers } from '../../../src/agents/acp/calls/timers.ts'

export interface ManualTimers extends Timers {
  /** Lets time pass up to a moment, in milliseconds from the start. */
  advanceTo(ms: number): void
  readonly waiting: number
}

export function manualTimers(): ManualTimers {
  let now = 0
  const waiting = new Set<{ at: number; callback: () => void }>()
  return {
    after(ms, callback) {
      const timer = { at: now + ms, callback }
      waiting.add(timer)
      return {
        stop: () => void waiting.delete(timer),
        restart() {
          if (waiting.has(timer)) timer.at = now + ms
        },
      }
    },
    advanceTo(ms) {
      for (const timer of [...waiting].sort((a, b) => a.at - b.at)) {
        if (timer.at > ms || !waiting.delete(timer)) continue
        now = timer.at
        timer.callback()
      }
      now = ms
    },
    get waiting() {
      return waiting.size
    },
  }
}
