/**
 * Removes from an answer the data that only its own model can read: signatures of thinking, and encrypted thinking.
 *
 * A server refuses a whole request for one foreign signature, so no model gets the signatures of another (decisions
 * 27). Text stays, and so does thinking in plain text.
 */
import type { Message } from '../../../schema/generated/values.ts'

export function unsigned({ responses_reasoning_item: _item, thinking_blocks, ...message }: Message): Message {
  const readable = thinking_blocks.flatMap((block) =>
    block.type === 'thinking' ? [{ type: block.type, thinking: block.thinking }] : [],
  )
  return { ...message, thinking_blocks: readable }
}
