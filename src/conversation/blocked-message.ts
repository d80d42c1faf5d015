/**
 * A user's message that a hook has refused (contract: conversations.md, section 10).
 *
 * It stands in the history like any other, with the reason in `extended_content`, where no client can write. The mark is
 * part of the event, so it is durable with it: nobody ever sees the message without. Such a message is served by no turn
 * and shown to no model.
 */
import type { EventDraft, MessageEvent } from '../schema/generated/events.ts'
import { toTextContent, type TextContent } from '../schema/generated/values.ts'

const mark = '[Blocked by hook] '

export function blockedContent(reason: string): TextContent {
  return toTextContent({ text: `${mark}${reason}` })
}

/** What a hook, a skill or the settings add to a message: never the mark, whatever text it is. */
export function addedContent(text: string): TextContent {
  return toTextContent({ text: text.startsWith(mark) ? ` ${text}` : text })
}

/** What tells everyone: clients that show no extended content too. */
export function blockedNote(reason: string): EventDraft {
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: `[Message blocked by hook] ${reason}` } }
}

/** Why the message was refused; undefined when it was not. */
export function blockedReason({ source, extended_content: [first] }: Pick<MessageEvent, 'source' | 'extended_content'>): string | undefined {
  return source === 'user' && first?.text.startsWith(mark) === true ? first.text.slice(mark.length) : undefined
}
