/**
 * The failures of a request to a peer, one class for each, so that a caller can tell them apart with `instanceof`.
 *
 * A request that its caller aborted fails with the reason of the caller's own signal and needs no class. The text in
 * a peer's error is untrusted: show it masked, never act on it.
 */
import type { RpcErrorObject } from './message.ts'

/** The peer answered with an error. A request handler throws it to answer with this error. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  /** Any number: some agents put an HTTP status here. */
  readonly code: number
  readonly data: unknown

  constructor({ code, message, data }: RpcErrorObject) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** The connection ended before the answer came. */
export class RpcClosedError extends Error {
  override readonly name = 'RpcClosedError'
}

/** The answer did not come in time. */
export class RpcTimeoutError extends Error {
  override readonly name = 'RpcTimeoutError'
}

/** A line, a queue or a number of open requests went over its limit. */
export class RpcLimitError extends Error {
  override readonly name = 'RpcLimitError'
}

/** The peer's answer breaks the protocol. */
export class RpcProtocolError extends Error {
  override readonly name = 'RpcProtocolError'
}
