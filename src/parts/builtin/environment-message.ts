/**
 * A word of the server to the model: an event that everyone sees, and that the model reads as a message of the user.
 *
 * Its source is `environment`, which no client can write, so nobody takes it for the user's own.
 */
import type { EventDraft } from '../../schema/generated/events.ts'

export function environmentMessage(text: string): EventDraft {
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: text } }
}
