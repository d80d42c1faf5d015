/**
 * Makes rows that users notice: an absolute figure of ours with its own target, and that of a bare program.
 */
import type { Figure, Row, Stall } from '../gate.ts'
import { spreadOf, type Comparison, type Cost, type Round, type Spread } from '../rounds.ts'

export interface UserRow {
  readonly what: string
  /** Names the work of the bare program. */
  readonly limit: string
  /** Default: milliseconds. */
  readonly unit?: string
  readonly ours: Spread
  readonly least?: Spread
  /** Ours to the least; default: of the medians. */
  readonly ratio?: Spread
  readonly target: NonNullable<Figure['target']>
  readonly why: string
  readonly context?: string
  readonly stall?: Stall
}

export function userRow({ what, limit, unit = 'ms', ours, least, ratio, target, why, context, stall }: UserRow): Row {
  return {
    what, limit, target: 'none',
    ratio: ratio ?? exactly(ratioOf(ours, least)),
    figure: { unit, ours, ...(least === undefined ? {} : { least }), target, why },
    ...(context === undefined ? {} : { context }),
    ...(stall === undefined ? {} : { stall }),
  }
}

/** 0 where there is none: a least of nothing has no ratio to it. */
function ratioOf(ours: Spread, least?: Spread): number {
  return least === undefined || least.median === 0 ? 0 : ours.median / least.median
}

export interface PeerRow {
  readonly peer: string
  readonly what: string
  readonly unit: string
  readonly figure: Spread
  readonly context?: string
}

/** The figure of another program for a row of ours. */
export function peerRow({ peer, what, unit, figure, context }: PeerRow): Row {
  return {
    what, peer, limit: '', ratio: exactly(1), target: 'none', figure: { unit, ours: figure },
    ...(context === undefined ? {} : { context }),
  }
}

/** The times of a comparison, as members of a row. */
export function timesOf(
  { oursElapsedMs, limitElapsedMs, elapsed }: Comparison,
): Pick<UserRow, 'ours' | 'least' | 'ratio'> {
  return { ours: oursElapsedMs, least: limitElapsedMs, ratio: elapsed }
}

/** The times and the worst stall of a comparison that `UserServer.watched` watched, as members of a row. */
export function watchedTimes(
  { done, stall }: { readonly done: Comparison; readonly stall: Stall },
): Pick<UserRow, 'ours' | 'least' | 'ratio' | 'stall'> {
  return { ...timesOf(done), stall }
}

/** A round that tells the median time of `count` operations, one after another. */
export function medianRound(count: number, operation: () => Promise<unknown>): Round {
  return medianOf(count, () => timed(operation))
}

/** A round that tells the median of the `count` times, in milliseconds, that `measure` returns. */
export function medianOf(count: number, measure: () => Promise<number>): Round {
  return async () => {
    const times: number[] = []
    for (let left = count; left > 0; left--) times.push(await measure())
    return costOf(spreadOf(times).median)
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** A cost of which only the time on the clock is known. */
export function costOf(elapsedMs: number): Cost {
  return { elapsedMs, cpuMs: 0 }
}

export function exactly(value: number): Spread {
  return { low: value, median: value, high: value }
}
