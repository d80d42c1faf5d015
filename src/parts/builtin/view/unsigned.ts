/**
 * Removes signatures and encrypted thinking from an answer of a model, because another model cannot use them
 * (decisions 27).
 */
import type { Message } from '../../../schema/generated/values.ts'

export function unsigned({ responses_reasoning_item: _item, thinking_blocks, ...message }: Message): Message {
  const readable = thinking_blocks.flatMap((block) =>
    block.type === 'thinking' ? [{ type: block.type, thinking: block.thinking }] : [],
  )
  return { ...message, thinking_blocks: readable }
}
