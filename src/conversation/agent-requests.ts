/**
 * What a client asks of an agent besides its turns: a question beside the work, and to condense the history.
 *
 * One of each at a time, within the budget of the conversation, and what it costs is counted. The status stays what it is.
 */
import { AppError } from '../base/errors.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Agent, UsageReport } from './agent.ts'

export interface AgentRequestsOptions {
  /** The agent of this moment. */
  readonly agent: () => Agent
  readonly isRunning: () => boolean
  /** Resolves when a run that has ended for everyone to see has written all that it had to. */
  readonly woundUp: () => Promise<void>
  /** Why no more may be spent; undefined while it may. */
  readonly budgetSpent: () => string | undefined
  readonly record: (draft: EventDraft) => void
  readonly count: (usage: UsageReport) => void
}

export class AgentRequests {
  readonly #options: AgentRequestsOptions
  #isAsking = false
  #isCondensing = false

  constructor(options: AgentRequestsOptions) {
    this.#options = options
  }

  /**
   * Asks the agent beside its work; nothing but the cost of it is left.
   * @throws AppError `conflict` while another question is open, or when the budget is spent; what the agent throws.
   */
  async askAside(question: string, signal: AbortSignal): Promise<string> {
    const { agent, budgetSpent, count } = this.#options
    const refusal = this.#isAsking ? 'another question is open' : budgetSpent()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot ask the agent: ${refusal}`)
    this.#isAsking = true
    try {
      const { text, usage } = await agent().askAside(question, signal)
      count(usage)
      return text
    } finally {
      this.#isAsking = false
    }
  }

  /**
   * Has the history condensed, between two runs.
   * @throws AppError `bad_request` when the agent cannot, `conflict` during a run or another condensation, or when the
   * budget is spent; what the agent throws.
   */
  async condense(signal: AbortSignal): Promise<void> {
    const { agent, record, count } = this.#options
    const condenser = agent()
    if (condenser.condense === undefined) {
      throw new AppError('bad_request', 'Cannot condense the history: the conversation is driven by an external agent, which keeps its own')
    }
    await this.#options.woundUp()
    const refusal = this.#busy()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot condense the history: ${refusal}`)
    this.#isCondensing = true
    try {
      await condenser.condense({ signal, record, usage: count })
    } finally {
      this.#isCondensing = false
    }
  }

  #busy(): string | undefined {
    const { isRunning, budgetSpent } = this.#options
    if (isRunning()) return 'the conversation is running'
    return this.#isCondensing ? 'that is being done already' : budgetSpent()
  }
}
