/**
 * The limits of a WebSocket connection: sizes of incoming and outgoing data, and times of silence.
 *
 * One object serves all connections of a server. The values are not checked here: check the values of options before
 * you pass them.
 */

export interface ConnectionLimits {
  /** The most bytes of an incoming message; above it the connection closes with 1009. */
  readonly maxMessageBytes: number
  readonly maxFragments: number
  /** While this process holds this many outgoing bytes, `send` takes no frame. */
  readonly maxBufferedBytes: number
  /** Silence of the peer before a Ping is sent. */
  readonly pingIntervalMs: number
  /** Further silence before the connection is ended. */
  readonly pongTimeoutMs: number
  /** A peer that takes no outgoing byte for this long is closed with 1013. */
  readonly stallTimeoutMs: number
  /** From the first Close frame to the end of the connection. */
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
