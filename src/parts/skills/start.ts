/** Starts the part `skills`: loads the skills of conversations, and serves the routes. */
import type { SkillSource } from '../../offers.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { createCatalogue } from './catalogue.ts'
import { userSkills, type SkillPlaces } from './load.ts'
import { openSkills } from './open.ts'
import type { skills } from './part.ts'
import * as routes from './routes.ts'

export function start(core: Lent<typeof skills>): Started<typeof skills> {
  const { homeDir, privateDirs, workspaceDir, log, offers, use } = core
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
