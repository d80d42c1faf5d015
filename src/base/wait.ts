/**
 * Waits for a time, or for a promise with a time limit or a signal.
 *
 * No timer and no listener outlives its wait.
 */

/** Resolves after `ms`. Rejects with the signal's reason when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Calls `use` with a plain value at once, or with the result of a promise later. */
export function andThen<T, R>(value: T | Promise<T>, use: (value: T) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}

/** Settles like `promise`, or rejects with the signal's reason if the signal aborts first. Does not stop the work. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => undefined) // The caller gets the signal's reason.
      return reject(signal.reason)
    }
    const stop = (): void => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Settles like `promise` if it settles within `ms`. Otherwise resolves to `'late'`, and the work goes on. */
export function within<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve('late'), ms)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (reason: unknown) => void
}

/** Runs the steps one after the other, also after a failed step. @throws the error of the first failed step */
export async function runAll(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (thrown) {
      failures.push(thrown)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Returns a promise with its resolve and reject functions. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (reason: unknown) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
