/**
 * What a client may send as a message: the user's words and images.
 *
 * No other role is let through, so nothing that a client sends can pass for the agent or the system; and of what a
 * message may hold besides its content nothing is taken. A message that makes a longer event than the log takes is refused
 * before anything of it is recorded. What the settings add stands beside it, in `extended_content`, for everyone to see.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../base/errors.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Message, TextContent } from '../schema/generated/values.ts'
import { addedContent } from './blocked-message.ts'

export function userMessageOf({ content }: Pick<Message, 'content'>): Message {
  return { role: 'user', content, thinking_blocks: [] }
}

/** The event of a message, with what goes beside it and the names of the skills in that. */
export function userMessageEvent(
  message: Message, context: readonly TextContent[] = [], skills: readonly string[] = [],
): EventDraft {
  return {
    kind: 'MessageEvent',
    source: 'user',
    llm_message: message,
    activated_skills: skills,
    extended_content: context,
  }
}

/**
 * Only a message that could be too long is printed to be measured, in a turn of the event loop of its own.
 * @throws AppError `body_too_large` for an event that is longer than the log takes
 */
export async function assertFits(event: EventDraft, limitBytes: number): Promise<void> {
  if (mostBytes(event) + stampBytes <= limitBytes) return
  await nextTurn()
  const bytes = Buffer.byteLength(JSON.stringify(event))
  await nextTurn()
  if (bytes + stampBytes <= limitBytes) return
  throw new AppError('body_too_large', `Could not store the message: expected at most ${limitBytes} bytes as an event`)
}

/** What a value cannot exceed in print: a character takes six bytes at most (`\u0000`), a number or a literal 25. */
function mostBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * 6 + 3
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + mostBytes(item), 3)
  if (!isObject(value)) return 25
  return Object.entries(value).reduce((sum, [name, member]) => sum + mostBytes(name) + mostBytes(member) + 1, 3)
}

/** What a stored agent says that every message of the user ends with; it never passes for what a hook says. */
export function suffixOf({ agent_context: context }: JsonObject): TextContent[] {
  const suffix = isObject(context) ? context['user_message_suffix'] : undefined
  return typeof suffix === 'string' && suffix.trim() !== '' ? [addedContent(suffix)] : []
}

/** Id and time, which an event gets when it is recorded, with their names. */
const stampBytes = 128
