/**
 * Detects a peer that has gone without closing its connection (RFC 6455, section 5.5.2).
 *
 * After `pingIntervalMs` without a byte from the peer a Ping is sent. After a further `pongTimeoutMs` without a byte
 * the peer is dead. Any byte shows that the peer is alive, not only a Pong.
 */

export interface HeartbeatLimits {
  readonly pingIntervalMs: number
  readonly pongTimeoutMs: number
}

export interface HeartbeatOwner {
  /** Sends a Ping. Returns false, without a Ping, when the peer could not answer it now. */
  ping(): boolean
  /** Called when the peer is dead. */
  onSilence(): void
}

export class Heartbeat {
  readonly #limits: HeartbeatLimits
  readonly #owner: HeartbeatOwner
  #heardAt = performance.now()
  /** The time of the last Ping, until a check finds that a byte came after it; undefined if no Ping is open. */
  #askedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(limits: HeartbeatLimits, owner: HeartbeatOwner) {
    this.#limits = limits
    this.#owner = owner
    this.#look(limits.pingIntervalMs)
  }

  /** Records that a byte arrived. */
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
