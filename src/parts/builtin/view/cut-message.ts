/**
 * The message of an answer that was cut off.
 *
 * The message ends with a mark, which clients show. A model gets the mark as a message of the user, because some models
 * refuse a request that ends with an answer.
 */
import type { MessageEvent } from '../../../schema/generated/events.ts'
import { toMessage, type Message } from '../../../schema/generated/values.ts'
import type { PartialAnswer } from '../llm/partial-answer.ts'

/** The mark begins with two line breaks, because clients join texts without a separator. */
export const cutMark = '\n\n[The answer was cut off here.]'

/** Returns the message for an answer that was cut off; undefined when it has neither text nor thoughts. */
export function cutMessage({ content, reasoning }: PartialAnswer): Message | undefined {
  if (content.trim() === '' && reasoning.trim() === '') return undefined
  const said = content.trim() === '' ? [] : [{ type: 'text', text: content } as const]
  return toMessage({
    role: 'assistant',
    content: [...said, { type: 'text', text: cutMark }],
    ...(reasoning.trim() === '' ? {} : { reasoning_content: reasoning }),
  })
}

export function isCut({ source, llm_message: { content } }: MessageEvent): boolean {
  const last = content.at(-1)
  return source === 'agent' && last?.type === 'text' && last.text === cutMark
}

/** Returns a cut answer as messages for a model: its text, if any, and `cutMark`. Thoughts alone give no message. */
export function shownOfCut({ llm_message: { content, reasoning_content: thoughts } }: MessageEvent): Message[] {
  const mark = toMessage({ role: 'user', content: cutMark.trim() })
  // A message with only the mark follows an earlier part of the same answer (recording/split-answer.ts).
  if (content.length < 2) return thoughts === undefined ? [mark] : []
  return [toMessage({ role: 'assistant', content: content.slice(0, -1) }), mark]
}
