/**
 * The contract between an MCP client and the transport of its messages, which connect.ts chooses. The transport has the
 * framing for the JSON-RPC layer (rpc/peer), gets the agreed protocol version, and ends the session.
 */
import { usualValueLimit } from '../../base/json.ts'
import type { Framing } from '../../rpc/peer.ts'

export interface Transport {
  readonly framing: Framing
  /** Tells the transport the protocol version that both sides agreed on. */
  agree(version: string): void
  /** Returns why the connection ended; undefined if the transport knows no reason. Call it after the end. */
  reasonOfEnd(): Promise<string | undefined>
  /** Ends the session. Idempotent. @throws AppError `agent_failed` when a process of the MCP server survives */
  close(): Promise<void>
}

/**
 * The error when an MCP server has forgotten the session. The server did not process the last message (MCP 2025-06-18,
 * transports, "Session Management").
 */
export class SessionLostError extends Error {
  override readonly name = 'SessionLostError'
}

/** The size limits of a message. A larger message ends the session, or with streamable HTTP only its HTTP response. */
export interface MessageLimits {
  readonly limitBytes: number
  readonly valueLimit: number
}

export const usualMessageLimits: MessageLimits = { limitBytes: 8 * 1024 * 1024, valueLimit: usualValueLimit }
