/**
 * A user message that a hook refused (contract: conversations.md, section 10).
 *
 * It is recorded like other messages, with the reason in `extended_content`, which clients cannot write. The mark is
 * part of the event, so both are durable together and the message is never seen without it. No turn serves such a
 * message and no model is shown it.
 */
import type { EventDraft, MessageEvent } from '../../schema/generated/events.ts'
import { toTextContent, type TextContent } from '../../schema/generated/values.ts'

const mark = '[Blocked by hook] '

export function blockedContent(reason: string): TextContent {
  return toTextContent({ text: `${mark}${reason}` })
}

/** Returns text that a hook, a skill or the settings add to a message. A text that looks like the mark is changed. */
export function addedContent(text: string): TextContent {
  return toTextContent({ text: text.startsWith(mark) ? ` ${text}` : text })
}

/** Returns the message that shows the refusal to all clients, also to those that show no extended content. */
export function blockedNote(reason: string): EventDraft {
  const content = `[Message blocked by hook] ${reason}`
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } }
}

/** Returns why the message was refused; undefined when it was not refused. */
export function blockedReason(event: Pick<MessageEvent, 'source' | 'extended_content'>): string | undefined {
  const { source, extended_content: [first] } = event
  return source === 'user' && first?.text.startsWith(mark) === true ? first.text.slice(mark.length) : undefined
}
