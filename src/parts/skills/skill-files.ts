/**
 * Reads the skill files of a folder tree: the user's home, or the repository and folder of a conversation.
 *
 * Skill files are `<name>.md` and `<name>/SKILL.md` (agentskills.io) in `skillFolders`. A project also has `AGENTS.md`
 * (agents.md). A file that cannot be used is left out with a warning.
 */
import { isUtf8 } from 'node:buffer'
import { join, relative } from 'node:path'
import { AppError, errorOf, messageOf } from '../../base/errors.ts'
import { walkTree, type Entry } from '../workspace-files/directory.ts'
import { readFile } from '../workspace-files/files.ts'
import { createWorkspace, type Workspace } from '../workspace-files/paths.ts'
import { findRepository } from '../../workspace/git.ts'
import { instructionSkill, parseSkill, type Skill } from './skill.ts'

export interface SkillFolderOptions {
  /** The absolute path of the folder. */
  readonly folder: string
  /** The server's own folders, which are never read. */
  readonly privateDirs: readonly string[]
  /** Called with the reason when existing files are left out. */
  readonly warn: Warn
}

export type Warn = (reason: string, error?: Error) => void

export const fileLimitBytes = 64 * 1024
/** The most skills, or other Markdown files, that are read from one folder. */
export const folderLimit = 100
/** The most entries of a folder that are read. Further entries are ignored with a warning. */
const entryLimit = 1000
/** The folders of skills in a tree. Of two skills with the same name, the skill in the later folder is used. */
const skillFolders = ['.agents/skills', '.openhands/skills']

/** Reads the skills of the user from the home directory. */
export async function readUserSkills(options: SkillFolderOptions): Promise<Skill[]> {
  return readTree(options, undefined)
}

/** Reads the skills of the repository around a folder, then the skills of the folder itself. */
export async function readProjectSkills(options: SkillFolderOptions): Promise<Skill[]> {
  const repository = await findRepository(options.folder)
  const below = repository === undefined ? '' : relative(repository.root, repository.folder)
  if (repository === undefined || below === '') return readTree(options, 'agents')
  return [
    ...(await readTree({ ...options, folder: repository.root }, 'agents')),
    ...(await readTree(options, `agents:${below}`)),
  ]
}

/** Returns the text of a file in `options.folder`; undefined if the file is missing or cannot be used. */
export async function readText(path: string, options: SkillFolderOptions): Promise<string | undefined> {
  const { folder, privateDirs, warn } = options
  return readIn(createWorkspace({ workingDir: folder, privateDirs }), path, warn)
}

/** Reads the skills in `folder`, a path relative to `options.folder`. */
export async function readSkillFolder(options: SkillFolderOptions, folder: string): Promise<Skill[]> {
  const { folder: workingDir, privateDirs } = options
  return readFolder({ ...options, workspace: createWorkspace({ workingDir, privateDirs }) }, folder)
}

/** Reads the skill in `SKILL.md` of `options.folder`, if it is usable. @param name used if the file gives no name */
export async function readSkillIn(options: SkillFolderOptions, name: string): Promise<Skill[]> {
  const text = await readText('SKILL.md', options)
  if (text === undefined) return []
  const file = { path: join(options.folder, 'SKILL.md'), text, name, isAgentSkill: true }
  return made(() => parseSkill(file), file.path, options.warn)
}

export interface TextFile {
  /** The name of the file, without `.md`. */
  readonly name: string
  /** The absolute path of the file. */
  readonly path: string
  readonly text: string
}

/** Reads the Markdown files in `folder` below `options.folder`, at most `folderLimit`. Leaves README.md out. */
export async function textFilesIn(options: SkillFolderOptions, folder: string): Promise<TextFile[]> {
  const { folder: workingDir, privateDirs, warn } = options
  const workspace = createWorkspace({ workingDir, privateDirs })
  const names = (await namesIn(workspace, folder, warn)).filter((name) => /\.md$/.test(name) && !isReadme(name))
  if (names.length > folderLimit) warn(`Left out files of "${folder}": expected at most ${folderLimit}`)
  const files = await Promise.all(names.slice(0, folderLimit).map(async (name) => {
    const text = await readIn(workspace, `${folder}/${name}`, warn)
    if (text === undefined) return []
    return [{ name: name.slice(0, -'.md'.length), path: join(workingDir, folder, name), text }]
  }))
  return files.flat()
}

async function readTree(options: SkillFolderOptions, instructionsName: string | undefined): Promise<Skill[]> {
  const { folder: treeFolder, privateDirs, warn } = options
  const tree = { folder: treeFolder, warn, workspace: createWorkspace({ workingDir: treeFolder, privateDirs }) }
  const skills = instructionsName === undefined ? [] : await readInstructions(tree, instructionsName)
  for (const folder of skillFolders) skills.push(...(await readFolder(tree, folder)))
  return skills
}

interface Tree extends Pick<SkillFolderOptions, 'folder' | 'warn'> {
  readonly workspace: Workspace
}

async function readInstructions({ workspace, folder, warn }: Tree, name: string): Promise<Skill[]> {
  const text = await readIn(workspace, 'AGENTS.md', warn)
  if (text === undefined || text.trim() === '') return []
  return made(() => instructionSkill({ name, source: join(folder, 'AGENTS.md'), text }), 'AGENTS.md', warn)
}

async function readFolder(tree: Tree, folder: string): Promise<Skill[]> {
  const { workspace, warn } = tree
  const skills: Skill[] = []
  for (const name of await namesIn(workspace, folder, warn)) {
    const isFile = name.endsWith('.md')
    if (isReadme(name)) continue
    const path = isFile ? `${folder}/${name}` : `${folder}/${name}/SKILL.md`
    const text = await readIn(workspace, path, warn)
    if (text === undefined) continue
    if (skills.length >= folderLimit) {
      warn(`Left out of "${folder}" the skills after "${name}": expected at most ${folderLimit} skills`)
      break
    }
    const named = isFile ? name.slice(0, -'.md'.length) : name
    const file = { path: join(tree.folder, path), text, name: named, isAgentSkill: !isFile }
    skills.push(...made(() => parseSkill(file), path, warn))
  }
  return skills
}

function isReadme(name: string): boolean {
  return /^readme\.md$/i.test(name)
}

/**
 * Returns the names of the first `entryLimit` entries of a folder, without the files whose names do not end in `.md`.
 * Returns an empty list for a folder that cannot be read.
 */
export async function namesIn(workspace: Workspace, folder: string, warn: Warn): Promise<string[]> {
  const names: string[] = []
  const visit = ({ name, place }: Entry): boolean => {
    // A link may lead to a file or a folder, so its name is kept.
    if (place.kind !== 'file' || name.endsWith('.md')) names.push(name)
    return false
  }
  try {
    await workspace.at(folder, async (place) => {
      if (place.kind !== 'directory') return
      const { isComplete } = await walkTree(place, {
        signal: new AbortController().signal,
        limitEntries: entryLimit,
        visit,
      })
      if (!isComplete) warn(`Looked at the first ${entryLimit} entries of "${folder}" only`)
    })
  } catch (thrown) {
    if (!isMissing(thrown)) warn(`Could not read the folder "${folder}": ${messageOf(thrown)}`, unexpected(thrown))
  }
  return names
}

/** Returns the text of a file; undefined if the file is missing or cannot be used. */
export async function readIn(workspace: Workspace, path: string, warn: Warn): Promise<string | undefined> {
  try {
    return await workspace.at(path, async (place) => {
      if (place.kind === 'nothing') return undefined
      const { bytes } = await readFile(place, fileLimitBytes)
      if (!isUtf8(bytes)) throw new AppError('invalid_input', 'it is not UTF-8')
      return new TextDecoder().decode(bytes)
    })
  } catch (thrown) {
    if (!isMissing(thrown)) warn(`Could not read "${path}": ${messageOf(thrown)}`, unexpected(thrown))
    return undefined
  }
}

/** Returns an error for the log; undefined for an AppError, whose message says everything. */
function unexpected(thrown: unknown): Error | undefined {
  return thrown instanceof AppError ? undefined : errorOf(thrown)
}

function made(make: () => Skill, path: string, warn: Warn): Skill[] {
  try {
    return [make()]
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    warn(`Left out "${path}": ${thrown.message}`)
    return []
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === 'not_found'
}
