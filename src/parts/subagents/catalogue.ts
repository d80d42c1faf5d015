/**
 * Finds the definitions of sub-agents: built in, of the user, of a project, and stored with a conversation.
 *
 * A later source in this order replaces definitions of the same name. The files are `*.md` in `.agents/agents/`, which
 * has priority, and in `.openhands/agents/`. The front matter, or else the file name, names the sub-agent. An unusable
 * file is left out with a warning.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { DefinitionText, SubAgentHost } from '../../offers.ts'
import { toAgentDefinition, type AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import { findRepository } from '../../workspace/git.ts'
import { createWorkspace } from '../workspace-files/paths.ts'
import { locatePlace } from '../../workspace/place.ts'
import { namesIn, readIn } from '../skills/skill-files.ts'
import { builtins } from './builtins.ts'
import { keptDefinition, parseDefinition, type Definition } from './definition.ts'
import type { SubAgentInfo, SubAgentsRequest, SubAgentsResponse } from './generated.ts'

export interface Places {
  /** The home directory of the user; undefined when the environment lacks it. */
  readonly homeDir: string | undefined
  readonly privateDirs: readonly string[]
  /** The folder against which a relative `project_dir` is resolved. */
  readonly workspaceDir: string
  readonly log: Pick<Log, 'warn'>
}

/** The most Markdown files that are read from one folder. Further files are left out with a warning. */
const folderLimit = 50
const folders = ['.openhands/agents', '.agents/agents']

type Level = SubAgentInfo['level']

interface Found extends Definition {
  readonly level: Level
  /** The path of the file; undefined for a built-in definition. */
  readonly source: string | undefined
}

const ofServer: readonly Found[] = builtins.map((one) => ({ ...one, level: 'builtin', source: undefined }))

/** Returns the definitions from all four sources for a conversation. */
export async function definitionsFor(
  { workingDir, agentDefinitions }: Pick<SubAgentHost, 'workingDir' | 'agentDefinitions'>, places: Places,
): Promise<readonly Definition[]> {
  const kept = agentDefinitions.map(keptDefinition)
  return merged([ofServer, await ofUser(places), await ofProject(workingDir, places), kept])
}

/** Reads the definition of a sub-agent in a file of a plugin. @throws AppError `invalid_input` if it is unusable */
export function readDefinition(file: DefinitionText): AgentDefinition {
  return toAgentDefinition(describe(parseDefinition(file)))
}

/**
 * Lists the definitions of sub-agents for a client.
 * @throws AppError `invalid_input` for a folder in which no conversation may work
 */
export async function listDefinitions(request: SubAgentsRequest, places: Places): Promise<SubAgentsResponse> {
  const { load_builtin, load_user, load_project, project_dir } = request
  const folder = project_dir === undefined || project_dir === '' ? undefined : await locate(project_dir, places)
  const found = merged([
    load_builtin ? ofServer : [],
    load_user ? await ofUser(places) : [],
    load_project && folder !== undefined ? await ofProject(folder, places) : [],
  ])
  return { agents: found.map(infoOf) }
}

async function locate(projectDir: string, places: Places): Promise<string> {
  return locatePlace(projectDir, places).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError)) throw thrown
    const issue = { type: 'value_error', loc: ['body', 'project_dir'], msg: thrown.message, input: projectDir }
    throw new AppError(thrown.code, thrown.message, { cause: thrown, issues: [issue] })
  })
}

function merged<T extends Definition>(sources: readonly (readonly T[])[]): readonly T[] {
  return [...new Map(sources.flat().map((definition) => [definition.name, definition])).values()]
}

async function ofUser(places: Places): Promise<readonly Found[]> {
  return places.homeDir === undefined ? [] : inTree(places.homeDir, 'user', places)
}

/** Reads the definitions of the repository around a folder, then those of the folder itself, which have priority. */
async function ofProject(workingDir: string, places: Places): Promise<readonly Found[]> {
  const root = (await findRepository(workingDir))?.root
  const around = root === undefined || root === workingDir ? [] : await inTree(root, 'project', places)
  return [...around, ...await inTree(workingDir, 'project', places)]
}

async function inTree(workingDir: string, level: Level, { privateDirs, log }: Places): Promise<readonly Found[]> {
  const warn = (reason: string): void => log.warn('The definition of a sub-agent is not used', { workingDir, reason })
  const workspace = createWorkspace({ workingDir, privateDirs })
  const found: Found[] = []
  for (const folder of folders) {
    const names = (await namesIn(workspace, folder, warn)).filter((name) => /\.md$/.test(name))
    if (names.length > folderLimit) warn(`"${folder}" has ${names.length} files, expected at most ${folderLimit}`)
    for (const file of names.slice(0, folderLimit)) {
      const path = `${folder}/${file}`
      const text = /^readme\.md$/i.test(file) ? undefined : await readIn(workspace, path, warn)
      if (text === undefined) continue
      try {
        const definition = parseDefinition({ text, name: file.slice(0, -'.md'.length) })
        found.push({ ...definition, level, source: join(workingDir, path) })
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown
        warn(`Left out "${path}": ${thrown.message}`)
      }
    }
  }
  return found
}

function infoOf(found: Found): SubAgentInfo {
  const { level, source } = found
  return { ...describe(found), metadata: {}, level, source: source ?? null, is_builtin: level === 'builtin' }
}

/** Returns the definition in the form of the API, without `metadata` and the members about its origin. */
function describe(
  definition: Definition,
): Omit<SubAgentInfo, 'metadata' | 'level' | 'source' | 'is_builtin'> & Pick<AgentDefinition, 'permission_mode'> {
  const { name, description, color, tools, skills, prompt, examples } = definition
  return {
    name,
    description,
    model: 'inherit',
    color: color ?? null,
    tools: tools ?? [],
    skills,
    system_prompt: prompt,
    when_to_use_examples: examples,
    permission_mode: definition.permissionMode ?? null,
    max_iteration_per_run: definition.maxIterations ?? null,
    max_budget_per_run: definition.maxBudget ?? null,
  }
}
