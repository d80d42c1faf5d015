/** Starts the part `git`. */
import { join } from 'node:path'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { openMachine } from '../workspace-files/machine.ts'
import { sendArchive, type ArchiveParts } from './archive.ts'
import { options, type git } from './part.ts'
import { createPatches } from './patches.ts'
import { createGit } from './program.ts'
import * as routes from './routes.ts'
import { ConversationWorktrees } from './worktrees.ts'

export function start(core: Lent<typeof git>): Started<typeof git> {
  const { config, environment, dataDir, workspaceDir, instanceId, cgroupParent, privateDirs, log } = core
  const { worktreeDir = join(workspaceDir, 'worktrees') } = valuesOf(options, config)
  const runs = createGit({ environment, instanceId, cgroupParent })
  const recordsDir = join(dataDir, 'worktrees')
  const worktrees = new ConversationWorktrees({ git: runs, recordsDir, worktreeDir, privateDirs, log })
  const parts: routes.GitParts & ArchiveParts = {
    runtimeDir: core.runtimeDir,
    stallTimeoutMs: config.readerStallMs,
    machine: openMachine(privateDirs),
    git: runs,
  }
  const handlers: Record<keyof typeof git.routes, PartHandler> = {
    'GET /api/git/changes': (call) => routes.listChanges(parts, call),
    'GET /api/git/diff': (call) => routes.showDiff(parts, call),
    'GET /api/git/commits': (call) => routes.listCommits(parts, call),
    'GET /api/git/commits/{sha}/changes': (call) => routes.listCommitChanges(parts, call),
    'GET /api/file/archive': (call) => sendArchive(parts, call),
  }
  const offers = { worktrees, patches: createPatches(runs) }
  const figures: Started<typeof git>['figures'] = () => [
    { name: 'git_programs_waiting', type: 'gauge', about: 'Calls of git that wait for a place.', value: runs.waiting },
  ]
  return { handlers, offers, figures, close: () => worktrees.close() }
}
