/**
 * Limits how many agent programs run at once, and how long an idle agent may keep its program (decisions 26).
 *
 * An agent takes a slot to start its program. Without a free slot the agent waits in a queue, and the agent that has
 * been idle longest is asked to end.
 */
import { AppError } from '../../../base/errors.ts'
import { deferred, untilAborted, type Deferred } from '../../../base/wait.ts'
import { systemTimers, type Timer, type Timers } from '../calls/timers.ts'

const queueLimit = 1000

export interface AgentSlotsOptions {
  /** The most agent programs that run at once. Default 16. */
  readonly limit: number
  /** How long an idle agent may keep its program. Default 20 minutes. */
  readonly idleMs: number
  readonly timers: Timers
}

interface Holder {
  readonly end: () => void
  isIdle: boolean
  timer: Timer | undefined
}

export class AgentSlots {
  readonly limit: number
  readonly #idle: { readonly ms: number, readonly timers: Timers }
  /** The agents with a slot. Idle agents are in the order in which they became idle. */
  readonly #holders = new Set<Holder>()
  /** The conversations of the waiting agents, by the promise that resolves when the agent gets a slot. */
  readonly #queue = new Map<Deferred<void>, string>()
  /** The number of waiting agents that were given a slot, but whose call of `take` has not continued yet. */
  #promised = 0

  constructor({ limit = 16, idleMs = 20 * 60 * 1000, timers = systemTimers }: Partial<AgentSlotsOptions> = {}) {
    this.limit = limit
    this.#idle = { ms: idleMs, timers }
  }

  get running(): number {
    return this.#holders.size
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** The conversations whose agents wait for a slot (the right to run a program), the longest wait first. */
  get queue(): readonly string[] {
    return [...this.#queue.values()]
  }

  /** True when the next `take` has to wait for a slot. */
  get isFull(): boolean {
    return this.waiting > 0 || this.running + this.#promised >= this.limit
  }

  /**
   * Waits for a free slot and takes it for a conversation's agent. `end` is called when the agent is idle and must end.
   * @throws AppError `unavailable` when too many agents wait; the signal's reason
   */
  async take(conversationId: string, end: () => void, signal: AbortSignal): Promise<AgentSlot> {
    signal.throwIfAborted()
    if (this.isFull) await this.#wait(conversationId, signal)
    const holder: Holder = { end, isIdle: false, timer: undefined }
    this.#holders.add(holder)
    return {
      idle: () => this.#setIdle(holder),
      busy: () => this.#setBusy(holder),
      release: () => this.#release(holder),
    }
  }

  async #wait(conversationId: string, signal: AbortSignal): Promise<void> {
    if (this.waiting >= queueLimit) {
      throw new AppError('unavailable', `Cannot start an agent: ${this.limit} run and ${this.waiting} wait already`)
    }
    const turn = deferred<void>()
    this.#queue.set(turn, conversationId)
    this.#makeRoom()
    try {
      await untilAborted(turn.promise, signal)
      this.#promised--
    } catch (reason) {
      // An agent that is no longer in the queue was given a slot before the abort. The slot goes to the next agent.
      if (!this.#queue.delete(turn)) {
        this.#promised--
        this.#giveNext()
      }
      throw reason
    }
  }

  #setIdle(holder: Holder): void {
    if (holder.isIdle || !this.#holders.delete(holder)) return
    this.#holders.add(holder)
    holder.isIdle = true
    holder.timer = this.#idle.timers.after(this.#idle.ms, () => this.#endIdle(holder))
    if (this.waiting > 0) this.#makeRoom()
  }

  #setBusy(holder: Holder): void {
    holder.isIdle = false
    holder.timer?.stop()
  }

  #release(holder: Holder): void {
    holder.timer?.stop()
    if (this.#holders.delete(holder)) this.#giveNext()
  }

  #giveNext(): void {
    const [turn] = this.#queue.keys()
    if (turn === undefined) return
    this.#queue.delete(turn)
    this.#promised++
    turn.resolve()
  }

  #makeRoom(): void {
    const holder = [...this.#holders].find(({ isIdle }) => isIdle)
    if (holder !== undefined) this.#endIdle(holder)
  }

  #endIdle(holder: Holder): void {
    this.#setBusy(holder)
    holder.end()
  }
}

export interface AgentSlot {
  /** Marks the agent as idle: it may be ended. */
  idle(): void
  /** Marks the agent as busy: it is not ended, even if other agents wait for a slot. */
  busy(): void
  /** Frees the slot. Call it after the agent has ended. Idempotent. */
  release(): void
}
