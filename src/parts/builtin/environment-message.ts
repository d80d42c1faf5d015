/**
 * Makes the event of a message from the server to the model. The model gets it as a user message. Clients see the
 * source `environment`.
 */
import type { EventDraft } from '../../schema/generated/events.ts'

export function environmentMessage(text: string): EventDraft {
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: text } }
}
