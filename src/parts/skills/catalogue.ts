/**
 * Lists the skills and hooks in files, for clients that show them or send them with a new conversation
 * (contract/others.md, section 4).
 *
 * A project folder is read only if a conversation may work in it.
 */
import { AppError, messageOf } from '../../base/errors.ts'
import { isObject, parseJson } from '../../base/json.ts'
import { readHookConfig } from '../../conversation/agent/hook-config.ts'
import type { HookConfig } from '../../schema/generated/hooks.ts'
import type { SandboxConfig, SkillInfo, SkillsRequest, SkillsResponse } from './generated.ts'
import { locatePlace } from '../../workspace/place.ts'
import { mergeSkills, projectSkills, userSkills, type SkillPlaces } from './load.ts'
import { instructionSkill, type Skill } from './skill.ts'
import { readText, type Warn } from './skill-files.ts'

export interface CatalogueOptions extends SkillPlaces {
  /** The folder against which relative project folders are resolved. */
  readonly workspaceDir: string
}

export interface SkillCatalogue {
  /** Lists the skills. @throws AppError `invalid_input` for a folder in which no conversation may work */
  find(request: SkillsRequest): Promise<SkillsResponse>
  /** Returns the hooks of a project; null if there is no project or no usable hook. @throws the errors of `find` */
  readHooks(projectDir: string | undefined): Promise<HookConfig | null>
}

const hooksPath = '.openhands/hooks.json'

export function createCatalogue(options: CatalogueOptions): SkillCatalogue {
  return {
    async find({ load_user, load_project, project_dir, sandbox_config }) {
      const folder = await locate(project_dir, options)
      const sandbox = sandboxSkills(sandbox_config)
      const user = load_user ? await userSkills(options) : []
      const project = load_project && folder !== undefined ? await projectSkills(folder, options) : []
      return {
        skills: mergeSkills([sandbox, user, project]).map(skillInfo),
        sources: {
          sandbox: sandbox.length,
          sdk_base: user.length,
          org: 0,
          project: project.length,
          registered_marketplaces: 0,
        },
      }
    },
    async readHooks(projectDir) {
      const folder = await locate(projectDir, options)
      return folder === undefined ? null : readHooksIn(folder, options)
    },
  }
}

async function locate(projectDir: string | undefined, options: CatalogueOptions): Promise<string | undefined> {
  if (projectDir === undefined || projectDir === '') return undefined
  return locatePlace(projectDir, options).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError)) throw thrown
    const issue = { type: 'value_error', loc: ['body', 'project_dir'], msg: thrown.message, input: projectDir }
    throw new AppError(thrown.code, thrown.message, { cause: thrown, issues: [issue] })
  })
}

async function readHooksIn(folder: string, { privateDirs, log }: CatalogueOptions): Promise<HookConfig | null> {
  const warn: Warn = (reason, error) => log.warn('The hooks of a project cannot be read', { folder, reason, error })
  const text = await readText(hooksPath, { folder, privateDirs, warn })
  if (text === undefined) return null
  try {
    const value = parseJson(text)
    const config = readHookConfig(isObject(value) ? value : {})
    return Object.values(config).some((list) => list.length > 0) ? config : null
  } catch (thrown) {
    warn(messageOf(thrown))
    return null
  }
}

/** Returns a list with one skill, which names the addresses in `exposed_urls`; an empty list without addresses. */
function sandboxSkills(config: SandboxConfig | undefined): Skill[] {
  if (config === undefined || config.exposed_urls.length === 0) return []
  const lines = config.exposed_urls.map(({ name, url, port }) => `- ${name}: ${url} (port ${port})`)
  const title = 'Programs that listen on these ports are reached from outside under these addresses:'
  const content = [title, ...lines].join('\n')
  return [instructionSkill({ name: 'work_hosts', source: undefined, text: content })]
}

function skillInfo({ name, type, content, triggers, source, description, isForUserOnly }: Skill): SkillInfo {
  return {
    name,
    type,
    content,
    triggers,
    source: source ?? null,
    description: description ?? null,
    is_agentskills_format: type === 'agentskills',
    disable_model_invocation: isForUserOnly,
  }
}
