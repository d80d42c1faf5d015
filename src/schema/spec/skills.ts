/**
 * Requests and answers about skills and about the hooks of a project (contract/others.md, section 4).
 *
 * Fields that ask for public skills, those of an organisation or of a marketplace are taken and find nothing: this
 * server fetches none.
 */
import {
  arrayOf, boolean, defaultTo, integer, mapOf, nullable, oneOf, openObject, optional, ref, required, response,
  string, tolerant, type Definitions,
} from '../define.ts'

export const skills: Definitions = {
  ExposedUrl: tolerant('An address under which something in the workspace can be reached.', {
    name: required(string),
    url: required(string),
    port: required(integer),
  }),
  SandboxConfig: tolerant('What is reached in the workspace from outside.', {
    exposed_urls: defaultTo([], arrayOf(ref('ExposedUrl'))),
  }),
  SkillsRequest: tolerant('Which skills are asked for.', {
    load_public: defaultTo(true, boolean),
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    load_org: defaultTo(true, boolean),
    marketplace_path: optional(string),
    registered_marketplaces: defaultTo([], arrayOf(openObject)),
    project_dir: optional(string, 'A folder; a relative one begins at the workspace folder.'),
    org_configs: optional(arrayOf(openObject)),
    org_config: optional(openObject),
    sandbox_config: optional(ref('SandboxConfig')),
  }),
  SkillInfo: response('A skill.', {
    name: required(string),
    type: required(oneOf('repo', 'knowledge', 'agentskills')),
    content: required(string),
    triggers: required(arrayOf(string)),
    source: required(nullable(string), 'Its file.'),
    description: required(nullable(string)),
    is_agentskills_format: required(boolean),
    disable_model_invocation: required(boolean),
  }),
  SkillsResponse: response('Skills, one of each name, and how many each source has.', {
    skills: required(arrayOf(ref('SkillInfo'))),
    sources: required(mapOf(integer)),
  }),
  SkillsSyncResponse: response('What became of the public skills.', {
    status: required(oneOf('success', 'error')),
    message: required(string),
  }),
  HooksRequest: tolerant('Whose hooks.', { project_dir: optional(string) }),
  HooksResponse: response('The hooks of a project; null without any.', {
    hook_config: required(nullable(ref('HookConfig'))),
  }),
}
