/** The part `profiles`: agent profiles, with which clients start conversations. */
import type { Part, PartModule } from '../../part.ts'

export const profiles = {
  name: 'profiles',
  about: 'Agent profiles: named choices of an agent with which clients start conversations',
  routes: {
    // A GET of an empty list can make a profile from the settings. A client with the right `read` may see these anyway.
    'GET /api/agent-profiles': 'read',
    'GET /api/agent-profiles/{name}': 'read',
    'POST /api/agent-profiles/{name}': 'configure',
    'DELETE /api/agent-profiles/{name}': 'configure',
    'POST /api/agent-profiles/{name}/rename': 'configure',
    'POST /api/agent-profiles/{profile_id}/activate': 'configure',
    'POST /api/agent-profiles/{name}/materialize': 'read',
  },
  offers: ['agentProfiles'],
  sealedFile: { name: 'agent-profiles.json', load: async () => (await import('./store.ts')).openSealedProfiles },
  spec: () => import('./spec.ts'),
  needs: ['dataDir', 'cipher', 'masker', 'log', 'settings', 'llmProfiles', 'providers', 'usableTools', 'use', 'offers'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
