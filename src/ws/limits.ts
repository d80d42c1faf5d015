/**
 * What bounds a WebSocket connection: sizes of what comes in and goes out, and how long a silence may last.
 *
 * One object serves all connections of a server. Nothing is checked here: whoever gives other limits has checked them.
 */

export interface ConnectionLimits {
  /** Of one incoming message; above it the connection closes with 1009. */
  readonly maxMessageBytes: number
  readonly maxFragments: number
  /** From this many outgoing bytes on, `send` takes no more. */
  readonly maxBufferedBytes: number
  /** Silence of the peer before it is sent a Ping. */
  readonly pingIntervalMs: number
  /** Silence after that before the connection is given up. */
  readonly pongTimeoutMs: number
  /** A peer that takes nothing of what waits for it for this long is closed with 1013. */
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
