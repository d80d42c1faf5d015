/**
 * What a client may send as a message: the user's words and images.
 *
 * No other role is let through, so nothing that a client sends can pass for the agent or the system; and of what a
 * message may hold besides its content nothing is taken.
 */
import type { Message } from '../schema/generated/values.ts'

export function userMessageOf({ content }: Pick<Message, 'content'>): Message {
  return { role: 'user', content, thinking_blocks: [] }
}
