/** Counts the events, changes of status, cost and tokens of all conversations since the start of the server. */
import type { Event } from '../../schema/generated/events.ts'
import { isExecutionStatus, type ExecutionStatus } from '../../schema/generated/conversations.ts'
import type { UsageReport } from '../agent/agent.ts'

export class Work {
  events = 0
  /** The cost in US dollars. Reports without a cost add nothing. */
  cost = 0
  readonly tokens = { prompt: 0, completion: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
  readonly #entered = new Map<ExecutionStatus, number>()

  /** Returns how many times conversations have entered this status since the start of the server. */
  entered(status: ExecutionStatus): number {
    return this.#entered.get(status) ?? 0
  }

  committed(event: Event): void {
    this.events++
    if (event.kind !== 'ConversationStateUpdateEvent' || event.key !== 'execution_status') return
    if (isExecutionStatus(event.value)) this.#entered.set(event.value, this.entered(event.value) + 1)
  }

  used(report: UsageReport): void {
    this.cost += report.cost ?? 0
    this.tokens.prompt += report.promptTokens ?? 0
    this.tokens.completion += report.completionTokens ?? 0
    this.tokens.cache_read += report.cacheReadTokens ?? 0
    this.tokens.cache_write += report.cacheWriteTokens ?? 0
    this.tokens.reasoning += report.reasoningTokens ?? 0
  }
}
