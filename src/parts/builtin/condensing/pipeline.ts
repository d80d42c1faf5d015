/**
 * The condensers of an agent. Before a step, they are tried in order until one condenses. After the model refused a
 * request as too long, and when a client asks for a condensation, only the first condenser is used.
 */
import type { CondensingWork } from '../../../conversation/agent/agent.ts'
import type { ModelError, ModelUsage } from '../llm/model.ts'
import type { Condenser } from './condenser.ts'

export class Pipeline {
  readonly #first: Condenser
  readonly #all: readonly Condenser[]

  constructor(first: Condenser, others: readonly Condenser[]) {
    this.#first = first
    this.#all = [first, ...others]
  }

  /** Tells every condenser the usage of the model's answer (`Condenser.answered`). */
  answered(usage: ModelUsage): void {
    for (const condenser of this.#all) condenser.answered(usage)
  }

  /** Condenses before a step if a condenser's `relieve` finds it necessary. @throws the signal's reason */
  async relieve(work: CondensingWork): Promise<void> {
    for (const condenser of this.#all) if (await condenser.relieve(work)) return
  }

  /** Condenses after the model refused a request as too long. @throws ModelError; the signal's reason */
  overflowed(error: ModelError, work: CondensingWork): Promise<void> {
    return this.#first.overflowed(error, work)
  }

  /**
   * Condenses the history at the request of a client.
   * @throws AppError `conflict`, `agent_failed`; the signal's reason
   */
  condense(work: CondensingWork): Promise<void> {
    return this.#first.condense(work)
  }
}
