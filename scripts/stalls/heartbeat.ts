/**
 * Loaded into the server before its program: a timer that should beat every few milliseconds, and how late it was at
 * most.
 *
 * Two figures are told, each the most of any gap between two beats: the time on the clock, and the time that the main
 * thread had a processor. On a machine that others use too the first may be theirs; the second never is, and need not
 * be of the same gap. Linux keeps it in /proc/self/task/<pid>/schedstat. Questions come over the channel of `fork`.
 */
import { readFileSync } from 'node:fs'

const everyMs = 4
const place = `/proc/self/task/${process.pid}/schedstat`

let lastAt = performance.now()
let lastBusyMs = busyMs()
let worst = { stallMs: 0, busyMs: 0 }

function busyMs(): number {
  return Number(readFileSync(place, 'latin1').split(' ')[0]) / 1e6
}

function beat(): void {
  const now = performance.now()
  const busy = busyMs()
  const stallMs = now - lastAt - everyMs
  worst = { stallMs: Math.max(worst.stallMs, stallMs), busyMs: Math.max(worst.busyMs, busy - lastBusyMs) }
  lastAt = now
  lastBusyMs = busy
}

setInterval(beat, everyMs).unref()
process.on('message', (question) => {
  beat()
  if (question === 'begin') worst = { stallMs: 0, busyMs: 0 }
  process.send?.(worst)
})
process.channel?.unref()
