/**
 * Keeps alive one of the objects that Node makes for `process.nextTick`, so that V8 keeps their fast form.
 *
 * When a full garbage collection finds none alive, `process.nextTick` stays slow (measured with Node 20 to 24).
 */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/** Stores the object that Node makes for the next tick, so that it stays alive. Does nothing when one is stored. */
export function keepTickShape(): void {
  if (kept !== undefined) return
  process.nextTick(() => {
    kept = executionAsyncResource()
  })
}
