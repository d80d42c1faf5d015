/** Makes the error for a request that an agent did not carry out, such as a change of the model. Pure. */
import { AppError, messageOf, type ErrorCode } from '../../../base/errors.ts'
import { RpcError, RpcTimeoutError } from '../../../rpc/errors.ts'
import { describe } from './failure.ts'

/** Makes an AppError: `bad_request` for an error response, `agent_timeout` after a timeout, else `agent_failed`. */
export function refused(what: string, error: unknown): AppError {
  return new AppError(errorCodeFor(error), `${what}: ${reasonOf(error)}`, { cause: error })
}

export function reasonOf(error: unknown): string {
  return error instanceof RpcError ? describe(error) : messageOf(error)
}

function errorCodeFor(error: unknown): ErrorCode {
  if (error instanceof RpcError) return 'bad_request'
  return error instanceof RpcTimeoutError ? 'agent_timeout' : 'agent_failed'
}
