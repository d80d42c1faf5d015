/**
 * Loaded into the built server before its program: answers questions about its event loop and its memory.
 *
 * `watch` begins a watch of the event loop, `stall` tells the longest stall since then: a timer should beat every 20
 * milliseconds. Time on the clock may have gone to other programs of the machine, time of a processor never has; Linux
 * keeps the latter in /proc/self/task/<pid>/schedstat. `memory` collects garbage first.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { answer } from '../child.ts'

const everyMs = 20
const place = `/proc/self/task/${process.pid}/schedstat`

let last = { at: performance.now(), busyMs: busyMs() }
let worst = { stallMs: 0, busyMs: 0 }

function busyMs(): number {
  return Number(readFileSync(place, 'latin1').split(' ')[0]) / 1e6
}

function beat(): void {
  const now = { at: performance.now(), busyMs: busyMs() }
  worst = {
    stallMs: Math.max(worst.stallMs, now.at - last.at - everyMs),
    busyMs: Math.max(worst.busyMs, now.busyMs - last.busyMs),
  }
  last = now
}

let timer: NodeJS.Timeout | undefined

answer({
  watch() {
    last = { at: performance.now(), busyMs: busyMs() }
    worst = { stallMs: 0, busyMs: 0 }
    timer ??= setInterval(beat, everyMs).unref()
  },
  /** Ends the watch too: the beats of an idle server would be most of its work. */
  stall() {
    beat()
    clearInterval(timer)
    timer = undefined
    return worst
  },
  async memory() {
    for (let round = 0; round < 6; round++) {
      globalThis.gc?.()
      // Buffers are given back some time after the collection that finds them.
      await pause(50)
    }
    const { heapUsed, arrayBuffers, rss } = process.memoryUsage()
    return { used: heapUsed + arrayBuffers, resident: rss }
  },
}, () => undefined)
process.channel?.unref()
