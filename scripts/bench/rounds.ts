/**
 * Compares our work with the least possible work, by rounds that take turns.
 *
 * A machine's speed drifts, and a shared one jumps; a round of both sides that ran right after each other shares most
 * of that. So each pair of rounds gives one ratio, each pair begins with the other side than the previous pair, and the
 * result is the median of the ratios with the quartiles beside it. Both sides do the same number of operations.
 */

/** The time that one round of a side took. */
export interface Cost {
  readonly elapsedMs: number
  /** Processor time, of whichever process does the work that is measured. */
  readonly cpuMs: number
}

export type Round = () => Promise<Cost>

export interface Spread {
  readonly low: number
  readonly median: number
  readonly high: number
}

/** Our cost divided by the limit's cost, with the cost of one round of ours. */
export interface Comparison {
  readonly elapsed: Spread
  readonly cpu: Spread
  readonly ours: { readonly elapsedMs: number; readonly cpuMs: number }
  readonly oursElapsedMs: Spread
  readonly limitElapsedMs: Spread
}

/** How much of the time is spent on rounds that do not count: code is compiled, caches and pools are filled. */
const warmUpShare = 0.2
const leastPairs = 3

/** Lets both sides take turns for about `budgetMs`, but for three pairs at least. */
export async function compare(
  sides: { readonly limit: Round; readonly ours: Round }, budgetMs: number,
): Promise<Comparison> {
  const begin = performance.now()
  const elapsed = (): number => performance.now() - begin
  do await runPair(sides, false)
  while (elapsed() < budgetMs * warmUpShare)
  const pairs: Pair[] = []
  while (pairs.length < leastPairs || elapsed() < budgetMs) pairs.push(await runPair(sides, pairs.length % 2 === 0))
  const oursElapsedMs = spreadOf(pairs.map(({ ours }) => ours.elapsedMs))
  return {
    elapsed: spreadOf(pairs.map(({ limit, ours }) => ours.elapsedMs / limit.elapsedMs)),
    cpu: spreadOf(pairs.map(({ limit, ours }) => ours.cpuMs / limit.cpuMs)),
    ours: { elapsedMs: oursElapsedMs.median, cpuMs: spreadOf(pairs.map(({ ours }) => ours.cpuMs)).median },
    oursElapsedMs,
    limitElapsedMs: spreadOf(pairs.map(({ limit }) => limit.elapsedMs)),
  }
}

interface Pair {
  readonly limit: Cost
  readonly ours: Cost
}

async function runPair(
  { limit, ours }: { readonly limit: Round; readonly ours: Round }, limitFirst: boolean,
): Promise<Pair> {
  if (limitFirst) return { limit: await limit(), ours: await ours() }
  const second = await ours()
  return { limit: await limit(), ours: second }
}

/** The median and the quartiles, each one of the values. @throws RangeError when there is none. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => {
    const value = sorted[Math.round(share * (sorted.length - 1))]
    if (value === undefined) throw new RangeError('Cannot tell the spread of nothing')
    return value
  }
  return { low: at(0.25), median: at(0.5), high: at(0.75) }
}

/** Returns the spread of 1 / x, for a figure that is shown as speed. */
export function inverse({ low, median, high }: Spread): Spread {
  return { low: 1 / high, median: 1 / median, high: 1 / low }
}

/** Runs something in this process and returns the time that it took. */
export async function measure(work: () => unknown): Promise<Cost> {
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await work()
  const elapsedMs = performance.now() - begin
  const { user, system } = process.cpuUsage(cpu)
  return { elapsedMs, cpuMs: (user + system) / 1000 }
}
