/**
 * The steps that a turn may take: `max_iterations` of the conversation, and those of the turn that it works for.
 *
 * A sub-agent takes each step from its own limit and from the limit of the turn above.
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

  /** Takes a step. Returns false when none is left. */
  take(): boolean {
    if (!this.areLeft || !this.#host.takeStep()) return false
    this.#taken++
    return true
  }

  /** True while the conversation's own limit leaves steps. */
  get areLeft(): boolean {
    return this.#taken < this.#limit
  }

  /** Why no step may begin. */
  get refusal(): string {
    if (!this.areLeft) return `The agent reached the maximum iterations limit (${this.#limit})`
    return `The agent that gave this task reached its maximum iterations limit (${this.#taken} steps of it here)`
  }
}
