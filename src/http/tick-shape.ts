/**
 * Keeps alive one of the objects that Node makes for `process.nextTick`, so that V8 keeps their fast layout.
 *
 * When a full garbage collection finds no such object, `process.nextTick` becomes slow for good (Node 20 to 24).
 */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/** Stores the object of one `process.nextTick` call in `kept`, so that the object stays alive. */
export function keepTickShape(): void {
  if (kept !== undefined) return
  process.nextTick(() => {
    kept = executionAsyncResource()
  })
}
