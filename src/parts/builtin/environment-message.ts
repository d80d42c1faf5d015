/**
 * A message from the server to the model. Clients get its event, and the model gets it as a user message.
 *
 * Its source is `environment`, which no client can write, so a client can tell it from a message of the user.
 */
import type { EventDraft } from '../../schema/generated/events.ts'

export function environmentMessage(text: string): EventDraft {
  return { kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: text } }
}
