/** The part `skills`: instructions for the model in files of the user and of the project. */
import type { Part, PartModule } from '../../part.ts'

export const skills = {
  name: 'skills',
  about: 'Skills, notes and AGENTS.md files for the built-in agent, and the routes that show them',
  routes: {
    // The client chooses the folder to read, so these routes need the right to let an agent work in that folder.
    'POST /api/skills': 'drive',
    'POST /api/hooks': 'drive',
  },
  idle: ['POST /api/skills', 'POST /api/hooks'],
  offers: ['skills'],
  spec: () => import('./spec.ts'),
  needs: ['homeDir', 'privateDirs', 'workspaceDir', 'log', 'offers', 'use'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
