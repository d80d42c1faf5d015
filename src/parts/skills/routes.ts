/** The routes for skills and hooks in files (contract/others.md, section 4). */
import type { HttpResponse } from '../../http/reply.ts'
import { HooksRequest, SkillsRequest } from './generated.ts'
import { ok, optionalBodyOf, type Call } from '../../api/call.ts'
import type { SkillCatalogue } from './catalogue.ts'

export interface SkillParts {
  readonly skills: SkillCatalogue
}

export async function findSkills({ skills }: SkillParts, call: Call): Promise<HttpResponse> {
  return ok(await skills.find(optionalBodyOf(call, SkillsRequest)))
}

export async function readHooks({ skills }: SkillParts, call: Call): Promise<HttpResponse> {
  return ok({ hook_config: await skills.readHooks(optionalBodyOf(call, HooksRequest).project_dir) })
}
