/**
 * How many agent programs run at once, and how long an idle one may stay (decisions, 26).
 *
 * An agent that wants to start takes a slot; without a free one it waits in a queue, first come first served, and while
 * somebody waits the agent that has been idle longest is ended to make room. An idle agent is ended after a time in any
 * case: its session is resumed when the next turn needs it. Ending is the holder's work; a slot is free when it is released.
 */
import { AppError } from '../../base/errors.ts'
import { deferred, untilAborted } from '../../base/wait.ts'
import { systemTimers, type Timer, type Timers } from './timers.ts'

export interface AgentSlotsOptions {
  /** How many agents may run. Default 16. */
  readonly limit?: number
  /** How many may wait for one to end. Default 1,000. */
  readonly queueLimit?: number
  /** How long an agent may be idle. Default 20 minutes. */
  readonly idleMs?: number
  readonly timers?: Timers
}

interface Holder {
  readonly end: () => void
  isIdle: boolean
  timer: Timer | undefined
}

export class AgentSlots {
  readonly #limit: number
  readonly #queueLimit: number
  readonly #idleMs: number
  readonly #timers: Timers
  /** In order of becoming idle, as far as they are idle. */
  readonly #holders = new Set<Holder>()
  readonly #queue = new Set<() => void>()
  /** Slots that are given to somebody who has not woken up yet. */
  #promised = 0

  constructor(options: AgentSlotsOptions = {}) {
    this.#limit = options.limit ?? 16
    this.#queueLimit = options.queueLimit ?? 1000
    this.#idleMs = options.idleMs ?? 20 * 60 * 1000
    this.#timers = options.timers ?? systemTimers
  }

  /** How many agents hold a slot. */
  get running(): number {
    return this.#holders.size
  }

  /** How many wait for one. */
  get waiting(): number {
    return this.#queue.size
  }

  /** True when somebody who wants a slot now has to wait. */
  get isFull(): boolean {
    return this.waiting > 0 || this.running + this.#promised >= this.#limit
  }

  /**
   * A slot, as soon as there is one. `end` is called at most once per idle time and should end the agent.
   * @throws AppError `unavailable` when too many wait; the signal's reason.
   */
  async take(end: () => void, signal: AbortSignal): Promise<AgentSlot> {
    signal.throwIfAborted()
    if (this.isFull) await this.#wait(signal)
    const holder: Holder = { end, isIdle: false, timer: undefined }
    this.#holders.add(holder)
    return {
      idle: () => this.#setIdle(holder),
      busy: () => this.#setBusy(holder),
      release: () => this.#release(holder),
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.waiting >= this.#queueLimit) {
      throw new AppError('unavailable', `Cannot start an agent: ${this.#limit} run and ${this.waiting} wait already`)
    }
    const turn = deferred<void>()
    const wake = (): void => turn.resolve()
    this.#queue.add(wake)
    this.#makeRoom()
    try {
      await untilAborted(turn.promise, signal)
      this.#promised--
    } catch (reason) {
      // Either still in the queue, or the slot was given in the same moment and goes to the next one.
      if (!this.#queue.delete(wake)) {
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
    holder.timer = this.#timers.after(this.#idleMs, () => this.#endIdle(holder))
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
    const [wake] = this.#queue
    if (wake === undefined) return
    this.#queue.delete(wake)
    this.#promised++
    wake()
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
  /** The agent has nothing to do. */
  idle(): void
  /** The agent works. */
  busy(): void
  /** The agent has ended. Idempotent. */
  release(): void
}
