/**
 * Loads the skills and the memory (a file of notes) for which the `agent_context` of a conversation asks.
 *
 * Of two skills with one name, the later source in this list wins: installed skills, the user's files, the client's
 * request, the project's files (contract/others.md, section 4; contract/tests.md, "Skills").
 */
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ContextChoice } from '../../agents/skills.ts'
import { skillOfClient, type Skill } from './skill.ts'
import { readProjectSkills, readSkillIn, readText, readUserSkills, type Warn } from './skill-files.ts'

/** The folders from which skills are read. */
export interface SkillPlaces {
  /** The home directory of the user; undefined if it is unknown. */
  readonly homeDir: string | undefined
  readonly privateDirs: readonly string[]
  /** Returns the folders of the skills that were installed for the user and are enabled. */
  readonly installedSkills: () => Promise<readonly { readonly name: string; readonly folder: string }[]>
  readonly log: Pick<Log, 'warn'>
}

export interface LoadedContext {
  readonly skills: readonly Skill[]
  readonly memory: Memory | undefined
}

/** The file in the workspace in which the agent may keep notes for later conversations. */
export interface Memory {
  readonly path: string
  /** The content of the file; empty for a missing file, undefined for a file that cannot be read. */
  readonly text: string | undefined
}

export const memoryPath = '.openhands/memory/MEMORY.md'
/** The most skills of one conversation. */
export const skillsLimit = 200

export async function loadContext(
  context: ContextChoice | null, workingDir: string, places: SkillPlaces,
): Promise<LoadedContext> {
  if (context === null) return { skills: [], memory: undefined }
  const warn = (reason: string): void => places.log.warn('A skill is not used', { workingDir, reason })
  const user = context.load_user_skills ? await userSkills(places) : []
  const given = context.skills.flatMap((value) => clientSkill(value, warn))
  const project = context.load_project_skills ? await projectSkills(workingDir, places) : []
  const skills = mergeSkills([user, given, project]).filter(({ name }) => !isDisabled(name, context.disabled_skills))
  if (skills.length > skillsLimit) warn(`There are ${skills.length} skills, expected at most ${skillsLimit}`)
  const memory = context.load_memory ? await readMemory(workingDir, places) : undefined
  return { skills: skills.slice(0, skillsLimit), memory }
}

/** Reads the installed skills and the skills of the home directory, which replace installed skills of the same name. */
export async function userSkills({ homeDir, privateDirs, installedSkills, log }: SkillPlaces): Promise<Skill[]> {
  const warn: Warn = (reason, error) => log.warn('A skill of the user is not used', { reason, error })
  const installed = await Promise.all((await installedSkills()).map(({ name, folder }) => {
    // `privateDirs` would exclude these folders: installed skills are in the server's own data folder.
    return readSkillIn({ folder, privateDirs: [], warn }, name)
  }))
  const own = homeDir === undefined ? [] : await readUserSkills({ folder: homeDir, privateDirs, warn })
  return mergeSkills([installed.flat(), own])
}

export async function projectSkills(folder: string, { privateDirs, log }: SkillPlaces): Promise<Skill[]> {
  const warn: Warn = (reason, error) => log.warn('A skill of a project is not used', { folder, reason, error })
  return readProjectSkills({ folder, privateDirs, warn })
}

/** Joins the lists of skills. Of skills with the same name, the last skill is kept. */
export function mergeSkills(sources: readonly (readonly Skill[])[]): Skill[] {
  const byName = new Map<string, Skill>()
  for (const skill of sources.flat()) {
    byName.delete(skill.name)
    byName.set(skill.name, skill)
  }
  return [...byName.values()]
}

/** Returns whether a skill is disabled. The name `agents` disables every AGENTS.md file. */
function isDisabled(name: string, disabled: readonly string[]): boolean {
  return disabled.includes(name) || (name.startsWith('agents:') && disabled.includes('agents'))
}

function clientSkill(value: Readonly<Record<string, unknown>>, warn: (message: string) => void): Skill[] {
  try {
    return [skillOfClient(value)]
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    warn(thrown.message)
    return []
  }
}

async function readMemory(folder: string, { privateDirs, log }: SkillPlaces): Promise<Memory> {
  let isReadable = true
  const warn: Warn = (reason, error) => {
    isReadable = false
    log.warn('The memory of a workspace is not used', { folder, reason, error })
  }
  const text = (await readText(memoryPath, { folder, privateDirs, warn })) ?? ''
  return { path: memoryPath, text: isReadable ? text.trim() : undefined }
}
