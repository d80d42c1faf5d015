/**
 * Reads the JSON of a client's frame, and makes the error frame for a frame that failed. An unexpected error is logged
 * and its text is not sent.
 */
import { AppError, errorOf, messageOf } from '../base/errors.ts'
import { parseJsonText } from '../base/json-turns.ts'
import type { Log } from '../base/log.ts'
import { parse, type Checked } from '../schema/check.ts'

export interface FrameError {
  readonly code: string
  readonly detail: string
}

/** The error for a frame that is no JSON text, or that holds too many values or levels. */
export class UnreadableFrame extends AppError {
  constructor(cause: unknown) {
    super('bad_request', messageOf(cause), { cause })
  }
}

/** Parses the text of a frame. Rejects with `UnreadableFrame`. */
export async function parseFrame(text: string, valueLimit: number | undefined): Promise<unknown> {
  try {
    return await parseJsonText(text, valueLimit)
  } catch (thrown) {
    throw new UnreadableFrame(thrown)
  }
}

/** Returns the error for the client. Some codes are names that existing clients expect, such as `ValidationError`. */
export function frameErrorOf(thrown: unknown, log: Log): FrameError {
  if (thrown instanceof UnreadableFrame) return { code: 'JSONDecodeError', detail: thrown.message }
  if (thrown instanceof AppError) {
    return { code: thrown.code === 'invalid_input' ? 'ValidationError' : thrown.code, detail: thrown.message }
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
