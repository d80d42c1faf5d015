/**
 * Keeps alive one of the objects that Node makes for `process.nextTick`, so that V8 keeps the fast layout of all.
 *
 * When a full garbage collection finds none of them, `process.nextTick` stays slow (measured with Node 20 to 24).
 */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/** Stores the object of its own `process.nextTick`, so that it stays alive. Does nothing when an object is stored. */
export function keepTickShape(): void {
  if (kept !== undefined) return
  process.nextTick(() => {
    kept = executionAsyncResource()
  })
}
