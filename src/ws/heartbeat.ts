/**
 * Finds out that a peer is gone although its connection never said so (RFC 6455, section 5.5.2).
 *
 * After `pingIntervalMs` without a byte from the peer it asks for a sign of life; after `pongTimeoutMs` more without
 * one, the peer is dead. Any byte is a sign of life, not only a Pong. What is heard is only noted with its time, since
 * that happens often; a timer looks at it.
 */

export interface HeartbeatLimits {
  readonly pingIntervalMs: number
  readonly pongTimeoutMs: number
}

export interface HeartbeatOwner {
  /** Sends a Ping; false when that is pointless now, so that no answer can be expected. */
  ping(): boolean
  /** The peer is dead. */
  onSilence(): void
}

export class Heartbeat {
  readonly #limits: HeartbeatLimits
  readonly #owner: HeartbeatOwner
  #heardAt = performance.now()
  /** When a Ping went out that nothing has answered so far. */
  #askedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: HeartbeatLimits, owner: HeartbeatOwner) {
    this.#limits = limits
    this.#owner = owner
    this.#look(limits.pingIntervalMs)
  }

  /** A byte arrived. */
  heard(): void {
    this.#heardAt = performance.now()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #look(afterMs: number): void {
    if (!this.#isClosed) this.#timer = setTimeout(this.#check, afterMs)
  }

  readonly #check = (): void => {
    const now = performance.now()
    if (this.#askedAt !== undefined && this.#heardAt <= this.#askedAt) this.#wait(this.#askedAt, now)
    else this.#listen(now)
  }

  #listen(now: number): void {
    const { pingIntervalMs, pongTimeoutMs } = this.#limits
    const leftMs = this.#heardAt + pingIntervalMs - now
    this.#askedAt = leftMs <= 0 && this.#owner.ping() ? now : undefined
    if (leftMs > 0) this.#look(leftMs)
    else this.#look(this.#askedAt === undefined ? pingIntervalMs : Math.min(pingIntervalMs, pongTimeoutMs))
  }

  #wait(askedAt: number, now: number): void {
    const { pingIntervalMs, pongTimeoutMs } = this.#limits
    const leftMs = askedAt + pongTimeoutMs - now
    if (leftMs > 0) return this.#look(Math.min(pingIntervalMs, leftMs))
    this.#askedAt = undefined
    this.#owner.onSilence()
    this.#look(pingIntervalMs)
  }
}
