/** The part `extensions`: skills and plugins that clients install from folders, archives and git repositories. */
import type { Part, PartModule } from '../../part.ts'

export const extensions = {
  name: 'extensions',
  about: 'Skills and plugins that clients install from folders, archives and git repositories',
  routes: {
    'POST /api/skills/sync': 'drive',
    'GET /api/skills/installed': 'read',
    // Conversations get the text of an installed skill, so each change of installed skills needs the right `configure`.
    'POST /api/skills/install': 'configure',
    'GET /api/skills/installed/{skill_name}': 'read',
    'PATCH /api/skills/installed/{skill_name}': 'configure',
    'DELETE /api/skills/installed/{skill_name}': 'configure',
    'POST /api/skills/installed/{skill_name}/refresh': 'configure',
    'GET /api/skills/marketplace': 'read',
    'POST /api/plugins': 'drive',
    'GET /api/plugins/installed': 'read',
    // Hooks and MCP servers of a plugin can run programs, so each change but a removal needs the right `execute`.
    'POST /api/plugins/install': 'execute',
    'GET /api/plugins/installed/{plugin_name}': 'read',
    'PATCH /api/plugins/installed/{plugin_name}': 'execute',
    'DELETE /api/plugins/installed/{plugin_name}': 'configure',
    'POST /api/plugins/installed/{plugin_name}/refresh': 'execute',
    'GET /api/plugins/marketplace': 'read',
    'POST /api/conversations/{conversation_id}/load_plugin': 'execute',
  },
  idle: ['POST /api/plugins'],
  offers: ['extensions'],
  // If the data folder contains this folder, the part starts with the server, to clean up after killed installations.
  startsWith: 'extensions',
  spec: () => import('./spec.ts'),
  needs: [
    'environment', 'instanceId', 'cgroupParent', 'dataDir', 'homeDir', 'privateDirs', 'workspaceDir', 'clock', 'log',
    'use', 'conversations',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
