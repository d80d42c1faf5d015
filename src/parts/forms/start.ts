/** Starts the part `forms`. */
import { ok } from '../../api/call.ts'
import type { Started } from '../../part.ts'
import type { forms } from './part.ts'
import { agentSchema, conversationSchema } from './schema-view.ts'

export function start(): Started<typeof forms> {
  return {
    handlers: {
      'GET /api/settings/agent-schema': () => ok(agentSchema()),
      'GET /api/settings/conversation-schema': () => ok(conversationSchema()),
    },
  }
}
