/**
 * Marks a user message that a hook has refused (contract/conversations.md, section 10).
 *
 * The first item of the message's `extended_content` holds the mark and the reason. Clients cannot write this member.
 */
import type { EventDraft, MessageEvent } from '../../schema/generated/events.ts'
import { toTextContent, type TextContent } from '../../schema/generated/values.ts'

const mark = '[Blocked by hook] '

export function blockedContent(reason: string): TextContent {
  return toTextContent({ text: `${mark}${reason}` })
}

/** Returns an item of `extended_content` with this text. If the text begins with `mark`, puts a space before it. */
export function addedContent(text: string): TextContent {
  return toTextContent({ text: text.startsWith(mark) ? ` ${text}` : text })
}

/** Returns the draft of a message with the reason of the refusal, for clients that do not show `extended_content`. */
export function blockedNote(reason: string): EventDraft {
  const content = `[Message blocked by hook] ${reason}`
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } }
}

/** Returns why a hook refused the message; undefined when no hook refused it. */
export function blockedReason(event: Pick<MessageEvent, 'source' | 'extended_content'>): string | undefined {
  const { source, extended_content: [first] } = event
  return source === 'user' && first?.text.startsWith(mark) === true ? first.text.slice(mark.length) : undefined
}
