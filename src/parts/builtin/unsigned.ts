/**
 * An answer without what only the model that gave it can read: signatures of thoughts, and thoughts that are encrypted.
 *
 * A server refuses a whole request for one signature that is not its own, so no model gets those of another (decisions
 * 27). Words are left as they are, and so is thinking that anyone can read.
 */
import type { Message } from '../../schema/generated/values.ts'

export function unsigned({ responses_reasoning_item: _item, thinking_blocks, ...message }: Message): Message {
  const readable = thinking_blocks.flatMap((block) => (block.type === 'thinking' ? [{ type: block.type, thinking: block.thinking }] : []))
  return { ...message, thinking_blocks: readable }
}
