/** Makes the error frame for a client frame that failed. An unexpected error is logged and its text is not sent. */
import { AppError, errorOf, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { parse, type Checked } from '../schema/check.ts'

export interface FrameError {
  readonly code: string
  readonly detail: string
}

/** Returns the error for the client. Some codes are names that existing clients expect, such as `ValidationError`. */
export function frameErrorOf(thrown: unknown, log: Log): FrameError {
  if (thrown instanceof AppError) {
    return { code: thrown.code === 'invalid_input' ? 'ValidationError' : thrown.code, detail: thrown.message }
  }
  if (thrown instanceof SyntaxError || thrown instanceof RangeError) {
    return { code: 'JSONDecodeError', detail: messageOf(thrown) }
  }
  log.error('A frame of a client failed unexpectedly', { error: errorOf(thrown) })
  return { code: 'InternalError', detail: 'Unexpected error' }
}

/** Returns the checked value of a frame, in its normal form. @throws AppError `invalid_input` with all issues */
export function checkedFrame<Input, Normal>(type: Checked<Input, Normal>, value: unknown): Normal {
  const result = parse(type, value)
  if (result.ok) return result.value
  const message = result.issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
  throw new AppError('invalid_input', message, { issues: result.issues })
}
