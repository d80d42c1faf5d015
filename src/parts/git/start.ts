/** Starts the part `git`. */
import type { Core } from '../../capabilities.ts'
import type { PartHandler, StartedPart } from '../../part.ts'
import { openMachine } from '../../workspace/machine.ts'
import type { git } from './part.ts'
import { createGit } from './program.ts'
import * as routes from './routes.ts'

export function start({ environment, instanceId, cgroupParent, privateDirs }: Needs): StartedPart {
  const parts: routes.GitParts = {
    machine: openMachine(privateDirs),
    git: createGit({ environment, instanceId, cgroupParent }),
  }
  const handlers: Record<keyof typeof git.routes, PartHandler> = {
    'GET /api/git/changes': (call) => routes.listChanges(parts, call),
    'GET /api/git/diff': (call) => routes.showDiff(parts, call),
    'GET /api/git/commits': (call) => routes.listCommits(parts, call),
    'GET /api/git/commits/{sha}/changes': (call) => routes.listCommitChanges(parts, call),
  }
  return { handlers }
}

type Needs = Pick<Core, 'environment' | 'instanceId' | 'cgroupParent' | 'privateDirs'>
