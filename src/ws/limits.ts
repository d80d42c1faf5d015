/** The limits of a WebSocket connection: sizes of incoming and outgoing data, and times. The values are not checked. */

export interface ConnectionLimits {
  /** The most bytes of an incoming message; above it the connection closes with 1009. */
  readonly maxMessageBytes: number
  readonly maxFragments: number
  /** `send` refuses frames while this many bytes of outgoing frames, or more, are queued. */
  readonly maxBufferedBytes: number
  /** The silence of the peer after which a Ping is sent. */
  readonly pingIntervalMs: number
  /** The time after a Ping in which the peer must send data. The connection of a silent peer is destroyed. */
  readonly pongTimeoutMs: number
  /** The time in which a peer must take a write of the outbox. The connection to a slower peer closes with 1013. */
  readonly stallTimeoutMs: number
  /** The most time from this side's Close frame until the socket is destroyed. */
  readonly closeTimeoutMs: number
}

export const defaultLimits: ConnectionLimits = {
  maxMessageBytes: 16 * 1024 * 1024,
  maxFragments: 262_144,
  maxBufferedBytes: 512 * 1024,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  closeTimeoutMs: 5_000,
}
