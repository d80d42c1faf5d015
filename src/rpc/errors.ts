/**
 * The errors with which a JSON-RPC request fails, one class for each reason.
 *
 * The text in a peer's error is untrusted: mask it before it is shown, and never act on it.
 */
import type { RpcErrorObject } from './message.ts'

/** An error response of the peer. A request handler throws an RpcError to respond with this error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  /** The error code, any number: some agents put an HTTP status here. */
  readonly code: number
  readonly data: unknown

  constructor({ code, message, data }: RpcErrorObject) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The connection ended before the response came, or before a message was sent. */
export class RpcClosedError extends Error {
  override readonly name = 'RpcClosedError'
}

/** The response did not come in time. */
export class RpcTimeoutError extends Error {
  override readonly name = 'RpcTimeoutError'
}

/** A line, a queue or the number of open requests exceeds its limit. */
export class RpcLimitError extends Error {
  override readonly name = 'RpcLimitError'
}

/** The peer's response breaks a rule of JSON-RPC (`RpcInvalid.rule`). */
export class RpcProtocolError extends Error {
  override readonly name = 'RpcProtocolError'
}
