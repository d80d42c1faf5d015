/**
 * Counts the steps of a turn, up to `max_iterations` of the conversation.
 *
 * A step of a sub-agent also counts in the turn that gave the task (`AgentHost.takeStep`).
 */
import type { AgentHost } from '../../conversation/agent/host.ts'

export class Steps {
  readonly #host: Pick<AgentHost, 'rules' | 'takeStep'>
  readonly #limit: number
  #taken = 0

  constructor(host: Pick<AgentHost, 'rules' | 'takeStep'>) {
    this.#host = host
    this.#limit = host.rules().maxIterations
  }

  /** Counts a step in this turn, and in the turns of parent agents. Returns false if one of them has no step left. */
  take(): boolean {
    if (!this.areLeft || !this.#host.takeStep()) return false
    this.#taken++
    return true
  }

  /** True while this turn has taken fewer steps than `max_iterations` of its conversation. */
  get areLeft(): boolean {
    return this.#taken < this.#limit
  }

  /** The reason why `take()` returned false, for the user. */
  get refusal(): string {
    if (!this.areLeft) return `The agent reached the maximum iterations limit (${this.#limit})`
    return `The agent that gave this task reached its maximum iterations limit (${this.#taken} steps of it here)`
  }
}
