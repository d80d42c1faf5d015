/** Counts turns of the event loop. */

/** How often the event loop turned until the work was done, or had failed. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  const turns = countTurns()
  await work.catch(() => undefined)
  return turns.stop()
}

export interface TurnCount {
  readonly count: number
  stop(): number
}

/** Counts from now on until it is stopped. */
export function countTurns(): TurnCount {
  let count = 0
  let timer = setImmediate(function next() {
    count++
    timer = setImmediate(next)
  })
  return {
    get count() {
      return count
    },
    stop() {
      clearImmediate(timer)
      return count
    },
  }
}
