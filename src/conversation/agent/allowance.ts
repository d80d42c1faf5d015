/**
 * The limits that a conversation's runs have from outside: those of the turn that a sub-agent works for.
 *
 * The steps and the cost of a sub-agent count in the turn above as well, so delegating extends no limit.
 */
import type { UsageReport } from './agent.ts'

export interface Allowance {
  /** Takes one step of the turn above. Returns false when none is left. */
  takeStep(): boolean
  /** Returns why the conversation above may spend no more; undefined while it may. */
  budgetSpent(): string | undefined
  /** Counts usage in the conversation above. */
  usage(report: UsageReport): void
}
