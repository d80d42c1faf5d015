/**
 * The limits of a turn that also hold for a sub-agent. The sub-agent's steps and cost count in its parent's turn as
 * well.
 */
import type { UsageReport } from './agent.ts'

export interface Allowance {
  /** Counts one step towards the limit of the parent's turn. Returns false when no step is left. */
  takeStep(): boolean
  /** Returns why the parent's conversation may spend no more; undefined while it may. */
  budgetSpent(): string | undefined
  /** Counts usage in the parent's conversation. */
  usage(report: UsageReport): void
}
