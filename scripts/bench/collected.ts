/**
 * Loaded into every child before its program: collects all garbage in its first seconds, in turns of their own.
 *
 * A program that has run for a while has been through such collections. V8 forgets in them its knowledge about objects
 * that live for a moment only. Some of Node's steps for each request or frame cost several times as much from then on
 * (`process.nextTick` of Node 20: 0.04 µs before, 0.3 µs after). A server with a history has that behind it when it is
 * measured. A program of thirty lines beside it would not, and the ratio would compare their ages.
 */
const everyMs = 100
const times = 15
/** V8 keeps its knowledge about an object for two collections after the object has gone. */
const collections = 3

let left = times
const timer = setInterval(() => {
  for (let count = 0; count < collections; count++) globalThis.gc?.()
  if (--left === 0) clearInterval(timer)
}, everyMs)
