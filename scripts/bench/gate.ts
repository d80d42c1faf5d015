/**
 * The types of a gate. A gate compares the cost of one thing with the least that it could cost, and has a number that
 * the ratio should keep to.
 */
import type { Spread } from './rounds.ts'

export type Target = { readonly atMost: number } | { readonly atLeast: number } | 'none'

/** An absolute figure, for a row that a user notices. */
export interface Figure {
  /** `ms`, `MB`, `requests/s` and the like. */
  readonly unit: string
  readonly ours: Spread
  /** That of the limit, which does only the necessary work. */
  readonly least?: Spread
  /** In the unit; a row without it is judged by its ratio. */
  readonly target?: Exclude<Target, 'none'>
  /** Why this target and no other. */
  readonly why?: string
}

/** One line of the table. */
export interface Row {
  readonly what: string
  /** Whose figure it is; empty or absent for this server's. A peer has no target. */
  readonly peer?: string
  readonly limit: string
  /** Our figure divided by the limit's. Where `limit` is empty: an absolute figure, in the unit that `what` names. */
  readonly ratio: Spread
  readonly target: Target
  /** An absolute figure of ours, which shows the size of the measured thing and is no claim. */
  readonly context?: string
  readonly figure?: Figure
  /** The longest time that the event loop of the server stood still meanwhile. */
  readonly stall?: Stall
}

export interface Stall {
  /** Between two beats of a timer. */
  readonly stallMs: number
  /** The most that the main thread had a processor between two beats. The rest of `stallMs` is time of others. */
  readonly busyMs: number
}

export interface GateOptions {
  /** How long each comparison may take, in about. */
  readonly budgetMs: number
}

export type Gate = (options: GateOptions) => Promise<Row[]>

export interface NamedGate {
  readonly name: string
  readonly gate: Gate
  /** The time that the rounds of the gate get. A noisy gate gets more. */
  readonly seconds: number
}

export function isOfPeer({ peer = '' }: Row): boolean {
  return peer !== ''
}

/** Returns the figure that a row is judged by: the absolute figure when it has a target, else the ratio. */
export function judgedOf({ figure, ratio, target }: Row): { readonly spread: Spread; readonly target: Target } {
  return figure?.target === undefined ? { spread: ratio, target } : { spread: figure.ours, target: figure.target }
}

/** Whether the median keeps to the target; undefined when there is none. */
export function isMet(row: Row): boolean | undefined {
  const { spread, target } = judgedOf(row)
  if (target === 'none' || isOfPeer(row)) return undefined
  return 'atMost' in target ? spread.median <= target.atMost : spread.median >= target.atLeast
}

/** How far apart the quartiles of a row may be before it says nothing about a target between them. */
const noise = 1.5

/** Whether the machine was too restless to tell: the quartiles are far apart, and the target is between them. */
export function isNoisy(row: Row): boolean {
  const { spread: { low, high }, target } = judgedOf(row)
  if (target === 'none' || isOfPeer(row)) return false
  const aim = 'atMost' in target ? target.atMost : target.atLeast
  return high > noise * low && low < aim && aim < high
}
