/**
 * What a client may send as a message: the user's words and images.
 *
 * No other role is let through, so nothing that a client sends can pass for the agent or the system; and of what a
 * message may hold besides its content nothing is taken. A message that makes a longer event than the log takes is refused
 * before anything of it is recorded.
 */
import { AppError } from '../base/errors.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Message } from '../schema/generated/values.ts'

export function userMessageOf({ content }: Pick<Message, 'content'>): Message {
  return { role: 'user', content, thinking_blocks: [] }
}

/** The event of a message. @throws AppError `body_too_large` */
export function userMessageEvent(message: Message, limitBytes: number): EventDraft {
  const event: EventDraft = {
    kind: 'MessageEvent',
    source: 'user',
    llm_message: message,
    activated_skills: [],
    extended_content: [],
  }
  if (Buffer.byteLength(JSON.stringify(event)) + stampBytes <= limitBytes) return event
  throw new AppError('body_too_large', `Could not store the message: expected at most ${limitBytes} bytes as an event`)
}

/** Id and time, which an event gets when it is recorded, with their names. */
const stampBytes = 128
