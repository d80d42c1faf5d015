/**
 * Remembers the ids of an external agent's tool calls in an open conversation.
 *
 * An agent may use an id for several calls, but in a conversation each id has one action (decisions 3). A call with a
 * used id gets a suffix: `t1`, `t1~1`, `t1~2`.
 */
import type { AgentHost } from '../../../conversation/agent/host.ts'

const defaultLimit = 20_000
const recallLimit = 5000

export class CallMemory {
  /** The remembered ids, oldest first, each with the number of the newest suffix that `take` added to it, or 0. */
  readonly #ids = new Map<string, number>()
  readonly #limit: number
  #recalling: Promise<void> | undefined
  /** True once the agent has sent an input or a diff in pieces. A text that stops growing may then be incomplete. */
  lengthensTexts = false

  constructor(limit: number = defaultLimit) {
    this.#limit = limit
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Adds the newest `recallLimit` tool call ids of the history. After a success, `recall` does nothing more. */
  async recall(host: Pick<AgentHost, 'toolCallIds'>): Promise<void> {
    this.#recalling ??= host.toolCallIds(recallLimit)
      .then((ids) => ids.forEach((id) => this.add(id)))
      .catch((error: unknown) => {
        this.#recalling = undefined
        throw error
      })
    await this.#recalling
  }

  /** Remembers an id as used. Above the limit, forgets the oldest id. */
  add(id: string): void {
    if (this.#ids.has(id)) return
    this.#ids.set(id, 0)
    const [oldest] = this.#ids.keys()
    if (this.#ids.size > this.#limit && oldest !== undefined) this.#ids.delete(oldest)
  }

  /** Returns an unused id for a new call: the agent's id, if necessary with a suffix. Remembers the returned id. */
  take(id: string): string {
    let shown = id
    for (let suffix = this.#ids.get(id); suffix !== undefined && this.#ids.has(shown);) {
      suffix++
      this.#ids.set(id, suffix)
      shown = `${id}~${suffix}`
    }
    this.add(shown)
    return shown
  }
}
