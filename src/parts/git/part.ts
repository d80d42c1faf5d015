/** The part `git`: what has changed in a repository, and its commits. */
import type { Part, PartModule } from '../../part.ts'

export const git = {
  name: 'git',
  about: 'What has changed in a git repository, and its commits',
  routes: {
    // These routes show the content of files of any repository on this machine.
    'GET /api/git/changes': 'files',
    'GET /api/git/diff': 'files',
    'GET /api/git/commits': 'files',
    'GET /api/git/commits/{sha}/changes': 'files',
  },
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
