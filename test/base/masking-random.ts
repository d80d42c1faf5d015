/** A small seeded generator (mulberry32), so that a failing round can be repeated from the seed in its message. */

export interface Random {
  readonly seed: number
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  pick<T>(list: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    seed,
    below,
    pick(list) {
      const [chosen] = list.slice(below(list.length))
      if (chosen === undefined) throw new RangeError('Cannot pick from an empty list')
      return chosen
    },
  }
}
