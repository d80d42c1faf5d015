/** The part `models`: lists of language models, and keys with addresses that LLM profiles share. */
import type { Part, PartModule } from '../../part.ts'

export const models = {
  name: 'models',
  about: 'Lists of language models, and provider connections: keys that LLM profiles share',
  routes: {
    'GET /api/llm/providers': 'read',
    'GET /api/llm/models': 'read',
    'GET /api/llm/models/verified': 'read',
    'GET /api/llm/balance': 'read',
    'GET /api/llm/provider-connections': 'read',
    'POST /api/llm/provider-connections': 'configure',
    'PATCH /api/llm/provider-connections/{connection_id}': 'configure',
    'DELETE /api/llm/provider-connections/{connection_id}': 'configure',
    'GET /api/llm/subscription/openai/models': 'read',
    'GET /api/llm/subscription/openai/status': 'read',
    'POST /api/llm/subscription/openai/logout': 'configure',
    'POST /api/llm/subscription/openai/device/start': 'configure',
  },
  offers: ['providerConnections'],
  sealedFile: {
    name: 'provider-connections.json',
    load: async () => (await import('./connections.ts')).openSealedConnections,
  },
  spec: () => import('./spec.ts'),
  needs: ['dataDir', 'cipher', 'masker', 'clock', 'log', 'llmProfiles', 'settings'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
