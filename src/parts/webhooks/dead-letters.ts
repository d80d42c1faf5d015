/** A dead letter: the record of a delivery that was given up, or of dropped events. It does not contain the events. */
import { numberOf, objectOf, textOf } from '../../base/fields.ts'
import type { DeadLetter as StoredLetter } from './generated.ts'

/** A dead letter in the file of its webhook. */
export type DeadLetter = Omit<StoredLetter, 'webhook_id'>

/** The most dead letters of one webhook. A further letter removes the oldest. */
export const letterLimit = 1000

/** Returns a dead letter that was read from a file; undefined for a value without an id or a conversation. */
export function readLetter(value: unknown): DeadLetter | undefined {
  const fields = objectOf(value)
  const [id, conversation_id] = [textOf(fields['id']), textOf(fields['conversation_id'])]
  if (id === undefined || conversation_id === undefined) return undefined
  return {
    id,
    conversation_id,
    first_event: numberOf(fields['first_event']) ?? null,
    end_event: numberOf(fields['end_event']) ?? null,
    reason: textOf(fields['reason']) ?? '',
    status: numberOf(fields['status']) ?? null,
    attempts: numberOf(fields['attempts']) ?? 0,
    failed_at: textOf(fields['failed_at']) ?? '',
  }
}
