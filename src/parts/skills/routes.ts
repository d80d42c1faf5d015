/**
 * The routes for skills and hooks in files (contract: others.md, section 4). The routes change no file.
 *
 * The catalogue decides which files are read and which folders a client may name. This server fetches no skills or
 * plugins: those lists are empty, and a request to install a skill is refused with advice.
 */
import { AppError } from '../../base/errors.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { HooksRequest, SkillsRequest } from '../../schema/generated/skills.ts'
import { ok, optionalBodyOf, type Call } from '../../api/call.ts'
import type { SkillCatalogue } from './catalogue.ts'

export interface SkillParts {
  readonly skills: SkillCatalogue
}

export async function findSkills({ skills }: SkillParts, call: Call): Promise<HttpResponse> {
  return ok(await skills.find(optionalBodyOf(call, SkillsRequest)))
}

export function syncSkills(): HttpResponse {
  return ok({ status: 'success', message: 'There is nothing to fetch: this server has no public skills' })
}

export async function readHooks({ skills }: SkillParts, call: Call): Promise<HttpResponse> {
  return ok({ hook_config: await skills.readHooks(optionalBodyOf(call, HooksRequest).project_dir) })
}

export function listNoSkills(): HttpResponse {
  return ok({ skills: [] })
}

export function installSkill(): never {
  const instead = 'put its folder into .agents/skills of the project or of the home directory'
  throw new AppError('bad_request', `Cannot install the skill: this server fetches none; ${instead}`)
}

export function installPlugin(): never {
  throw new AppError('bad_request', 'Cannot install the plugin: this server has no plugins')
}

export function listNoPlugins(): HttpResponse {
  return ok({ plugins: [] })
}
