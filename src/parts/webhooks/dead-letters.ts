/**
 * Dead letters: deliveries that were given up. A letter names the events by their seqs, and has no copy of them.
 */
import { numberOf, objectOf, textOf } from '../../base/fields.ts'

export interface DeadLetter {
  readonly id: string
  readonly conversation_id: string
  /** The seq of the first event; null for a change of the conversation. */
  readonly first_event: number | null
  /** The seq of the last event plus 1; null for a change of the conversation. */
  readonly end_event: number | null
  readonly reason: string
  /** The status of the last answer; null when there was none. */
  readonly status: number | null
  /** The number of attempts; 0 for events that were dropped from a full queue. */
  readonly attempts: number
  readonly failed_at: string
}

/** The most dead letters of one webhook. At the limit the oldest one is removed. */
export const letterLimit = 1000

/** Returns a stored letter; undefined for a value of another form. */
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
