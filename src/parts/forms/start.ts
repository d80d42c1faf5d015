/** Starts the part `forms`. */
import { ok } from '../../api/call.ts'
import type { StartedPart } from '../../part.ts'
import { agentSchema, conversationSchema } from './schema-view.ts'

export function start(): StartedPart {
  return {
    handlers: {
      'GET /api/settings/agent-schema': () => ok(agentSchema()),
      'GET /api/settings/conversation-schema': () => ok(conversationSchema()),
    },
  }
}
