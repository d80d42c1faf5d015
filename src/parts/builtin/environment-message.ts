/**
 * A message from the server to the model. The model gets it as a user message.
 *
 * Clients can tell it from a message of the user by its source `environment`, which no client can write.
 */
import type { EventDraft } from '../../schema/generated/events.ts'

export function environmentMessage(text: string): EventDraft {
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: text } }
}
