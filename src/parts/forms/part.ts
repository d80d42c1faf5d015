/** The part `forms`: descriptions of the settings, from which clients make their forms. */
import type { Part, PartModule } from '../../part.ts'

export const forms = {
  name: 'forms',
  about: 'Describes the settings to clients that show them as a form',
  routes: {
    'GET /api/settings/agent-schema': 'read',
    'GET /api/settings/conversation-schema': 'read',
  },
  forRestricted: ['GET /api/settings/agent-schema', 'GET /api/settings/conversation-schema'],
  spec: () => import('./spec.ts'),
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
