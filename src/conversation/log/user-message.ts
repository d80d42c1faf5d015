/**
 * Makes the event of a user message, from a client or from the server itself.
 *
 * `userMessageOf` takes only the content of a client's message, so a client cannot pass for the agent or the system.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../base/json.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { Message, TextContent } from '../../schema/generated/values.ts'
import { addedContent } from './blocked-message.ts'

export function userMessageOf({ content }: Pick<Message, 'content'>): Message {
  return { role: 'user', content, thinking_blocks: [] }
}

/** Builds a message's event. `context` becomes `extended_content`; `skills` are the names of skills in `context`. */
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

/** Refuses a message whose event is longer than `limitBytes`. @throws AppError `body_too_large` */
export async function assertFits(event: EventDraft, limitBytes: number): Promise<void> {
  if (mostBytes(event) + stampBytes <= limitBytes) return
  await nextTurn()
  const bytes = Buffer.byteLength(JSON.stringify(event))
  await nextTurn()
  if (bytes + stampBytes <= limitBytes) return
  throw new AppError('body_too_large', `Could not store the message: expected at most ${limitBytes} bytes as an event`)
}

/**
 * Returns an upper bound of the length in bytes of the value's JSON. A character takes at most six bytes
 * (`\u0000`), a number or a literal at most 25.
 */
function mostBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * 6 + 3
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + mostBytes(item), 3)
  if (!isObject(value)) return 25
  return Object.entries(value).reduce((sum, [name, member]) => sum + mostBytes(name) + mostBytes(member) + 1, 3)
}

/** Returns the suffix that the agent's settings add to each user message, if any. */
export function suffixOf({ agent_context: context }: JsonObject): TextContent[] {
  const suffix = isObject(context) ? context['user_message_suffix'] : undefined
  return typeof suffix === 'string' && suffix.trim() !== '' ? [addedContent(suffix)] : []
}

/** Bytes reserved for the members `id` and `timestamp`. An event gets both when it is recorded. */
const stampBytes = 128
