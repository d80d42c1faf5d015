/**
 * Finds out that a peer is gone although its connection never said so (RFC 6455, section 5.5.2).
 *
 * After `pingIntervalMs` without a byte from the peer it asks for a sign of life; after `pongTimeoutMs` more without
 * one, the peer is dead. Any byte is a sign of life, not only a Pong.
 */

export interface HeartbeatOptions {
  readonly pingIntervalMs: number
  readonly pongTimeoutMs: number
  /** Sends a Ping; false when that is pointless now, so that no answer can be expected. */
  readonly ping: () => boolean
  readonly onDead: () => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #interval: NodeJS.Timeout
  #deadline: NodeJS.Timeout | undefined

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#interval = setTimeout(this.#ask, options.pingIntervalMs)
  }

  /** A byte arrived. */
  heard(): void {
    clearTimeout(this.#deadline)
    this.#deadline = undefined
    this.#interval.refresh()
  }

  close(): void {
    clearTimeout(this.#interval)
    clearTimeout(this.#deadline)
  }

  readonly #ask = (): void => {
    this.#interval.refresh()
    if (this.#deadline !== undefined || !this.#options.ping()) return
    this.#deadline = setTimeout(this.#late, this.#options.pongTimeoutMs)
  }

  readonly #late = (): void => {
    this.#deadline = undefined
    this.#options.onDead()
  }
}
