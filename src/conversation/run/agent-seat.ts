/** Holds the agent of an open conversation, and creates the agent when it is needed. */
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { within } from '../../base/wait.ts'
import type { AgentHost } from '../agent/host.ts'
import type { Agent, AgentKind } from '../agent/agent.ts'

export interface AgentSeatOptions {
  readonly kind: AgentKind
  readonly createHost: () => AgentHost
  readonly diagnostics: Log
  /** The longest time in milliseconds that `discard` waits for `Agent.close`. */
  readonly closeLimitMs: number
}

export class AgentSeat {
  readonly #options: AgentSeatOptions
  #agent: Agent | undefined

  constructor(options: AgentSeatOptions) {
    this.#options = options
  }

  /** Returns the agent. Creates one if there is none. @throws the errors of `AgentKind.create` */
  agent(): Agent {
    const { kind, createHost } = this.#options
    this.#agent ??= kind.create(createHost())
    return this.#agent
  }

  /** Returns the agent if `AgentKind.readsMessages` holds; otherwise undefined. @throws the errors of `agent` */
  messageReader(): Agent | undefined {
    return this.#options.kind.readsMessages ? this.agent() : undefined
  }

  get takesModel(): boolean {
    return this.#options.kind.takesModel
  }

  /** True when the agent can end a turn between two steps; false before the agent is created. */
  get isStepping(): boolean {
    return this.#agent?.isStepping === true
  }

  /** Tells the agent, if it is created, that the confirmation policy changed. */
  policyChanged(): void {
    this.#agent?.policyChanged()
  }

  /** Closes the agent, if any, and waits at most `closeLimitMs`. `agent()` then creates another one. Never rejects. */
  async discard(): Promise<void> {
    const { diagnostics, closeLimitMs } = this.#options
    const agent = this.#agent
    this.#agent = undefined
    try {
      if (agent === undefined || (await within(agent.close(), closeLimitMs)) !== 'late') return
      diagnostics.error('An agent did not close in time and was left', { limit_ms: closeLimitMs })
    } catch (thrown) {
      diagnostics.error('An agent could not be closed', { error: errorOf(thrown) })
    }
  }
}
