/**
 * Keeps one object of `process.nextTick` alive, so that V8 keeps the fast form of such objects.
 *
 * After a full collection without such an object, calls of `process.nextTick` are slow (measured with Node 20 to 24).
 */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/** Keeps the object of the next tick alive, so that `process.nextTick` stays fast. Does nothing when one is kept. */
export function keepTickShape(): void {
  if (kept !== undefined) return
  process.nextTick(() => {
    kept = executionAsyncResource()
  })
}
