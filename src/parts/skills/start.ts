/** Starts the part `skills`: loads the skills of conversations, and serves the routes. */
import type { Core } from '../../capabilities.ts'
import type { SkillSource } from '../../offers.ts'
import type { PartHandler, StartedPart } from '../../part.ts'
import { createCatalogue } from './catalogue.ts'
import { userSkills, type SkillPlaces } from './load.ts'
import { openSkills } from './open.ts'
import type { skills } from './part.ts'
import * as routes from './routes.ts'

export function start({ homeDir, privateDirs, workspaceDir, log, offers, use }: Needs): StartedPart {
  const places: SkillPlaces = {
    homeDir,
    privateDirs,
    log,
    installedSkills: async () => (offers('extensions') ? (await use('extensions')).enabledSkills() : []),
  }
  const parts = { skills: createCatalogue({ ...places, workspaceDir }) }
  const handlers: Record<keyof typeof skills.routes, PartHandler> = {
    'POST /api/skills': (call) => routes.findSkills(parts, call),
    'POST /api/hooks': (call) => routes.readHooks(parts, call),
  }
  const offered: SkillSource = {
    load: (context, workingDir) => openSkills(context, workingDir, places),
    userSkillNames: async () => (await userSkills(places)).map(({ name }) => name),
  }
  return { handlers, offers: { skills: offered } }
}

type Needs = Pick<Core, 'homeDir' | 'privateDirs' | 'workspaceDir' | 'log' | 'offers' | 'use'>
