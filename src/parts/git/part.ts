/** The part `git`: changes and commits of a repository, and worktrees for conversations. */
import { optionalPath } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

export const options = {
  worktreeDir: optionalPath({
    group: 'Folders', help: 'Folder for git worktrees of conversations; default: worktrees in the workspace folder',
  }),
}

export const git = {
  name: 'git',
  about: 'What has changed in a git repository, its commits and its work, and worktrees for conversations',
  options,
  routes: {
    // These routes read folders anywhere on this machine, not only in workspaces.
    'GET /api/git/changes': 'files',
    'GET /api/git/diff': 'files',
    'GET /api/git/commits': 'files',
    'GET /api/git/commits/{sha}/changes': 'files',
    'GET /api/file/archive': 'files',
  },
  offers: ['worktrees', 'patches'],
  spec: () => import('./spec.ts'),
  needs: [
    'config', 'environment', 'dataDir', 'runtimeDir', 'workspaceDir', 'instanceId', 'cgroupParent', 'privateDirs',
    'log',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
