/**
 * The part of its parent's limits that a sub-agent may use: its steps and its cost also count in the parent's turn.
 */
import type { UsageReport } from './agent.ts'

export interface Allowance {
  /** Takes one step from the limit of the parent's turn. Returns false, and takes none, when none is left. */
  takeStep(): boolean
  /** Returns why the parent's conversation may spend no more; undefined while it may. */
  budgetSpent(): string | undefined
  /** Counts usage in the parent's conversation. */
  usage(report: UsageReport): void
}
