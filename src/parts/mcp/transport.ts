/**
 * The contract between an MCP client and what carries its messages: standard input and output, streamable HTTP, or the
 * older HTTP with server-sent events.
 *
 * A transport is a framing for the JSON-RPC layer with a life of its own. It knows the words of the protocol only as far
 * as its own rules speak of them.
 */
import { usualValueLimit } from '../../base/json.ts'
import type { Framing } from '../../rpc/peer.ts'

export interface Transport {
  readonly framing: Framing
  /** The version that both sides have agreed on. */
  agree(version: string): void
  /** Why the server is gone, as far as the transport knows more than its framing. Asked when it is. */
  reasonOfEnd(): Promise<string | undefined>
  /** Ends the session and all that belongs to it. Idempotent. @throws AppError when something of it cannot be ended */
  close(): Promise<void>
}

/** The server has forgotten the session: nothing of the last message was done (2025-06-18, transports, "Session Management"). */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError'
}

/** What a message of a server may hold at most. A longer or richer one ends the session. */
export interface MessageLimits {
  readonly limitBytes: number
  readonly valueLimit: number
}

export const usualMessageLimits: MessageLimits = { limitBytes: 8 * 1024 * 1024, valueLimit: usualValueLimit }
