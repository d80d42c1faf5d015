/**
 * The limits of a turn that also hold for a sub-agent's conversation.
 *
 * The steps and the cost of a sub-agent count in the turn of its parent as well. So a turn cannot exceed its limits by
 * the use of sub-agents.
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
