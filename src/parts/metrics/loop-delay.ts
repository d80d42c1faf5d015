/**
 * Measures how late the event loop is: a histogram counts the lateness of a timer of 50 ms.
 *
 * A turn of the event loop that lasts for several intervals of the timer gives one value.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { counter, type Family } from './exposition.ts'
import { Histogram } from './histogram.ts'

const intervalMs = 50
const secondBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

export class LoopDelay {
  readonly #histogram = new Histogram(secondBounds)
  readonly #begun: EventLoopUtilization = performance.eventLoopUtilization()
  readonly #timer: NodeJS.Timeout
  #due = performance.now() + intervalMs

  constructor() {
    this.#timer = setInterval(() => this.#tick(), intervalMs)
    this.#timer.unref()
  }

  families(): Family[] {
    const { active } = performance.eventLoopUtilization(this.#begun)
    return [
      {
        name: 'agent_server_event_loop_delay_seconds',
        type: 'histogram',
        help: 'Lateness of a timer that is due every 50 ms.',
        samples: this.#histogram.samples(),
      },
      counter('agent_server_event_loop_active_seconds_total', 'Time in which the event loop was not idle.', [
        { value: active / 1000 },
      ]),
    ]
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const now = performance.now()
    this.#histogram.add(Math.max(0, now - this.#due) / 1000)
    this.#due = now + intervalMs
  }
}
