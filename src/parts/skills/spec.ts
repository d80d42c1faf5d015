/**
 * Requests and responses of the routes that read skills and hooks from files (contract/others.md, section 4).
 *
 * Fields that ask for skills from the network have no effect.
 */
import {
  arrayOf, boolean, defaultTo, integer, mapOf, nullable, oneOf, openObject, optional, ref, required, response, string,
  tolerant, unread, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { inGroup, post, responseOf } from '../../schema/spec/operation.ts'

export const definitions: Definitions = {
  ExposedUrl: tolerant('An address under which something in the workspace can be reached.', {
    name: required(string),
    url: required(string),
    port: required(integer),
  }),
  SandboxConfig: tolerant('The addresses under which the workspace is reached from outside.', {
    exposed_urls: defaultTo([], arrayOf(ref('ExposedUrl'))),
  }),
  SkillsRequest: tolerant('The kinds of skills to list.', {
    load_public: unread(defaultTo(true, boolean)),
    load_user: defaultTo(true, boolean),
    load_project: defaultTo(true, boolean),
    load_org: unread(defaultTo(true, boolean)),
    marketplace_path: unread(optional(string)),
    registered_marketplaces: defaultTo([], arrayOf(openObject)),
    project_dir: optional(string, 'A folder; a relative path begins at the workspace folder.'),
    org_configs: unread(optional(arrayOf(openObject))),
    org_config: unread(optional(openObject)),
    sandbox_config: optional(ref('SandboxConfig')),
  }),
  SkillInfo: response('A skill.', {
    name: required(string),
    type: required(oneOf('repo', 'knowledge', 'agentskills')),
    content: required(string),
    triggers: required(arrayOf(string)),
    source: required(nullable(string), 'The path of the file of the skill.'),
    description: required(nullable(string)),
    is_agentskills_format: required(boolean),
    disable_model_invocation: required(boolean),
  }),
  SkillsResponse: response('Skills, one of each name, and how many each source has.', {
    skills: required(arrayOf(ref('SkillInfo'))),
    sources: required(mapOf(integer)),
  }),
  HooksRequest: tolerant('The project whose hooks are read.', { project_dir: optional(string) }),
  HooksResponse: response('The hooks of a project; null without any.', {
    hook_config: required(nullable(ref('HookConfig'))),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('Skills', [
  {
    ...post('/api/skills', 'Find skills', 'SkillsRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The skills found', ref('SkillsResponse')) },
  },
  {
    ...post('/api/hooks', 'Read the hooks of a project', 'HooksRequest'),
    isBodyOptional: true,
    responses: { 200: responseOf('The hooks', ref('HooksResponse')) },
  },
])
