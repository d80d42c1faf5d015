/**
 * What a client may send as a message: the user's words and images.
 *
 * No other role is let through, so nothing that a client sends can pass for the agent or the system; and of what a
 * message may hold besides its content nothing is taken. A message that makes a longer event than the log takes is refused
 * before anything of it is recorded.
 */
import { AppError } from '../base/errors.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Message, TextContent } from '../schema/generated/values.ts'

export function userMessageOf({ content }: Pick<Message, 'content'>): Message {
  return { role: 'user', content, thinking_blocks: [] }
}

/** The event of a message, with what goes beside it. */
export function userMessageEvent(message: Message, context: readonly TextContent[] = []): EventDraft {
  return {
    kind: 'MessageEvent',
    source: 'user',
    llm_message: message,
    activated_skills: [],
    extended_content: context,
  }
}

/** @throws AppError `body_too_large` for an event that is longer than the log takes */
export function assertFits(event: EventDraft, limitBytes: number): void {
  if (Buffer.byteLength(JSON.stringify(event)) + stampBytes <= limitBytes) return
  throw new AppError('body_too_large', `Could not store the message: expected at most ${limitBytes} bytes as an event`)
}

/** Id and time, which an event gets when it is recorded, with their names. */
const stampBytes = 128
