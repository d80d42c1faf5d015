/**
 * Keeps one object of `process.nextTick` alive, so that V8 keeps the fast form of such objects.
 *
 * Node makes an object for each call of `process.nextTick`, several for each request. When a full collection finds none
 * of them alive, V8 forgets their shape, and each later call takes the slow path (measured with Node 20 to 24). The
 * kept object is the same for all servers of the process, and holds nothing of a request.
 */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/** Keeps an object of `process.nextTick` from the next tick on. A later call changes nothing. */
export function keepTickShape(): void {
  if (kept !== undefined) return
  process.nextTick(() => {
    kept = executionAsyncResource()
  })
}
