/** The limits that a parent agent sets for its sub-agent, whose steps and cost also count for the parent. */
import type { UsageReport } from './agent.ts'

export interface Allowance {
  /** Takes one step from the limit of the parent's turn. Returns false when the limit has no step left. */
  takeStep(): boolean
  /** Returns why the parent's conversation may spend no more; undefined while it may. */
  budgetSpent(): string | undefined
  /** Counts usage in the parent's conversation. */
  usage(report: UsageReport): void
}
