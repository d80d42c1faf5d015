/**
 * Removes from an answer the data that only the model of the answer can read: signatures and encrypted thinking.
 *
 * A provider refuses a whole request for one signature of another model (decisions 27). Text and thinking in plain text
 * stay.
 */
import type { Message } from '../../../schema/generated/values.ts'

export function unsigned({ responses_reasoning_item: _item, thinking_blocks, ...message }: Message): Message {
  const readable = thinking_blocks.flatMap((block) =>
    block.type === 'thinking' ? [{ type: block.type, thinking: block.thinking }] : [],
  )
  return { ...message, thinking_blocks: readable }
}
