/**
 * What a conversation remembers of its agent's tool calls for as long as it is open: their ids, and how the agent sends inputs.
 *
 * One id has one action in the life of a conversation (decisions, 3). Agents use an id again (a counter that begins anew),
 * and report the end of an old call after a session was resumed. An id that was used gets a suffix when it begins another
 * call: `t1`, `t1~1`, `t1~2`. Beyond a limit the oldest ids are forgotten.
 */

import type { AgentHost } from '../../conversation/agent.ts'

/** More ids than this are not kept: about 2 MB. */
const defaultLimit = 20_000
/** How many calls of earlier lives are looked up. */
const recallLimit = 5000

export class CallMemory {
  /** Ids as the history shows them, oldest first, each with the number of the last suffix that was given to it. */
  readonly #ids = new Map<string, number>()
  readonly #limit: number
  #recalling: Promise<void> | undefined
  /** True once the agent has sent a text of an input in pieces: a text that stands still may go on then. */
  lengthensTexts = false

  constructor(limit: number = defaultLimit) {
    this.#limit = limit
  }

  /** True when a call with this id of the agent's stands in the history. */
  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Remembers the calls that stand in the history from an earlier life of the conversation. Reads it once. */
  async recall(host: Pick<AgentHost, 'toolCallIds'>): Promise<void> {
    this.#recalling ??= host.toolCallIds(recallLimit).then((ids) => ids.forEach((id) => this.add(id)))
    await this.#recalling
  }

  /** Remembers an id of the history. */
  add(id: string): void {
    if (this.#ids.has(id)) return
    this.#ids.set(id, 0)
    const [oldest] = this.#ids.keys()
    if (this.#ids.size > this.#limit && oldest !== undefined) this.#ids.delete(oldest)
  }

  /** An id for a new call that no call had before: the agent's own, or that with a suffix. It counts as used. */
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
