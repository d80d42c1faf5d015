/**
 * What a gate is: something that is compared with the least it could cost, and a number that it should keep to.
 */
import type { Spread } from './rounds.ts'

export type Target = { readonly atMost: number } | { readonly atLeast: number } | 'none'

/** One line of the table. */
export interface Row {
  readonly what: string
  /** Whose figure it is; empty or absent for this server's. A peer has no target. */
  readonly peer?: string
  readonly limit: string
  /** Ours to the limit; where `limit` is empty, a figure of its own in the unit that `what` names. */
  readonly ratio: Spread
  readonly target: Target
  /** An absolute figure of ours, which tells the size of what was measured and is no claim. */
  readonly context?: string
}

export interface GateOptions {
  /** How long each comparison may take, in about. */
  readonly budgetMs: number
}

export type Gate = (options: GateOptions) => Promise<Row[]>

export interface NamedGate {
  readonly name: string
  readonly gate: Gate
  /** How long its rounds get; what is noisy gets more. */
  readonly seconds: number
}

export function isOfPeer({ peer = '' }: Row): boolean {
  return peer !== ''
}

/** Whether the median keeps to the target; undefined when there is none. */
export function isMet(row: Row): boolean | undefined {
  const { ratio, target } = row
  if (target === 'none' || isOfPeer(row)) return undefined
  return 'atMost' in target ? ratio.median <= target.atMost : ratio.median >= target.atLeast
}
