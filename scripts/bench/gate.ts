/**
 * What a gate is: something that is compared with the least it could cost, and a number that it should keep to.
 */
import type { Spread } from './rounds.ts'

export type Target = { readonly atMost: number } | { readonly atLeast: number }

/** One line of the table. */
export interface Row {
  readonly what: string
  readonly limit: string
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

/** True when the median keeps to the target. */
export function isMet({ ratio, target }: Row): boolean {
  return 'atMost' in target ? ratio.median <= target.atMost : ratio.median >= target.atLeast
}
