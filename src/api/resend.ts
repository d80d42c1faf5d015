/**
 * Reads which stored events a client requests when it joins a live stream (contract/websocket.md, section 1, decisions
 * 35).
 */
import type { Conversation } from '../conversation/conversation.ts'
import { boolean, dateTime, oneOf, text, type QueryValues } from '../http/query.ts'

export type Resend =
  | { readonly mode: 'none' }
  | { readonly mode: 'all' }
  /** Stored events from `micros` (microseconds since the epoch) on. If `micros` is undefined, no stored events. */
  | { readonly mode: 'since'; readonly micros: number | undefined }
  /** All events after the event with this id. The id may also be the id of a frame that is not stored. */
  | { readonly mode: 'after'; readonly eventId: string }

export const resendFields = {
  after: text({ maxLength: 64 }),
  resend_mode: oneOf(['all', 'since']),
  resend_all: boolean(),
  after_timestamp: dateTime(),
}

export function resendOf(query: QueryValues<typeof resendFields>): Resend {
  const { after, resend_mode: mode, resend_all: all, after_timestamp: micros } = query
  if (after !== undefined) return { mode: 'after', eventId: after }
  if (mode === 'since') return { mode, micros }
  return mode === 'all' || (mode === undefined && all === true) ? { mode: 'all' } : { mode: 'none' }
}

/** Returns the number of the first event to send; `now` to send new events only; undefined if the id is unknown. */
export async function startOf(conversation: Conversation, resend: Resend): Promise<number | 'now' | undefined> {
  switch (resend.mode) {
    case 'none':
      return 'now'
    case 'all':
      return 0
    case 'since':
      return resend.micros === undefined ? 'now' : conversation.events.firstAtOrAfter(resend.micros)
    case 'after':
      return conversation.seqAfter(resend.eventId)
  }
}
