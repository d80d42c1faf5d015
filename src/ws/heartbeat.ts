/**
 * Detects peers that have gone without closing their connection (RFC 6455, section 5.5.2).
 *
 * After `pingIntervalMs` without a byte from the peer a Ping is sent. After a further `pongTimeoutMs` without a byte
 * the peer is dead. Connections share a timer (`Pulse`), so both times can be longer by up to two of its beats.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface HeartbeatLimits {
  readonly pingIntervalMs: number
  readonly pongTimeoutMs: number
}

export interface HeartbeatOwner {
  /** Sends a Ping. Returns false, without a Ping, while the connection cannot write the Ping or read the Pong. */
  ping(): boolean
  /** Called when no byte came from the peer within `pongTimeoutMs` after a Ping: the peer is dead. */
  onSilence(): void
}

const beatsInShorterTime = 8
/** The most connections that a beat handles in one turn of the event loop. */
const perTurn = 500

/** The timer that connections with the same limits share. Runs while a connection is open. */
export class Pulse {
  readonly #beatMs: number
  /** The number of beats without a byte before a Ping is sent. */
  readonly pingBeats: number
  /** The number of beats without a byte, after a Ping was sent, until the peer counts as dead. */
  readonly deadBeats: number
  readonly #heartbeats = new Set<Heartbeat>()
  #timer: NodeJS.Timeout | undefined
  #isBeating = false

  constructor({ pingIntervalMs, pongTimeoutMs }: HeartbeatLimits) {
    this.#beatMs = Math.max(1, Math.min(pingIntervalMs, pongTimeoutMs) / beatsInShorterTime)
    this.pingBeats = Math.ceil(pingIntervalMs / this.#beatMs)
    this.deadBeats = Math.ceil(pongTimeoutMs / this.#beatMs)
  }

  add(heartbeat: Heartbeat): void {
    this.#heartbeats.add(heartbeat)
    this.#timer ??= setInterval(() => void this.#beat(), this.#beatMs)
  }

  remove(heartbeat: Heartbeat): void {
    this.#heartbeats.delete(heartbeat)
    if (this.#heartbeats.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return
    this.#isBeating = true
    let count = 0
    try {
      // A connection that closes during `nextTurn` leaves the set, so its heartbeat gets no more beats.
      for (const heartbeat of this.#heartbeats) {
        heartbeat.beat()
        if (++count % perTurn === 0) await nextTurn()
      }
    } finally {
      this.#isBeating = false
    }
  }
}

export class Heartbeat {
  readonly #pulse: Pulse
  readonly #owner: HeartbeatOwner
  /** True at first, and when a byte arrived since the last beat. */
  #isHeard = true
  /** The number of beats without a byte from the peer. Starts again at 0 at each attempt to send a Ping. */
  #quietBeats = 0
  /** True when a Ping was sent and the peer has sent no byte since. */
  #isAsked = false

  constructor(pulse: Pulse, owner: HeartbeatOwner) {
    this.#pulse = pulse
    this.#owner = owner
    pulse.add(this)
  }

  heard(): void {
    this.#isHeard = true
  }

  close(): void {
    this.#pulse.remove(this)
  }

  /** Handles a beat: after too many beats without a byte, sends a Ping or reports the silence. Only Pulse calls it. */
  beat(): void {
    if (this.#isHeard) this.#rest()
    else if (++this.#quietBeats >= (this.#isAsked ? this.#pulse.deadBeats : this.#pulse.pingBeats)) this.#act()
  }

  #rest(): void {
    this.#isHeard = false
    this.#isAsked = false
    this.#quietBeats = 0
  }

  #act(): void {
    const wasAsked = this.#isAsked
    this.#rest()
    if (wasAsked) this.#owner.onSilence()
    else this.#isAsked = this.#owner.ping()
  }
}
