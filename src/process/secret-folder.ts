/**
 * A private folder for files that hold secrets in plain while a program uses them: the variables of a command, lent credentials.
 *
 * It is in memory where the system has a file system for that (the user's XDG_RUNTIME_DIR, else /dev/shm), so that neither a
 * disk nor a backup of the data folder gets them; elsewhere it is the runtime folder of the data folder. Its name is that of
 * the data folder, so that the next server finds what a killed one left, until the machine starts anew. A logout may take it
 * away, so it is asked for before each use, and made anew. Anybody may write /dev/shm: the folder is made exclusively, and one
 * that is there is used only if it is a folder of this user that nobody else may enter. Memory may be written to swap.
 */
import { lstat, mkdir, readdir, rm, rmdir, statfs } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { systemCodeOf } from '../base/errors.ts'
import { othersMay } from '../base/file-mode.ts'
import { isObject } from '../base/json.ts'
import { makeFolder, ownFolder, readJsonFile, writeJsonFile } from '../base/json-file.ts'
import type { Environment } from './environment.ts'

export interface SecretFolderOptions {
  /** Of the data folder. */
  readonly instance: string
  readonly environment: Environment
  /** In the data folder: where the files are without memory, and where it is noted which memory was used. */
  readonly runtimeDir: string
  /** Memory that every user may write. Default `/dev/shm`. */
  readonly sharedMemory?: string
}

/** TMPFS_MAGIC and RAMFS_MAGIC of statfs(2). */
const memoryTypes = [0x01021994, 0x858458f6]
const noteName = 'secret-folder.json'

export class SecretFolder {
  /** Where it may be, the best place first and the runtime folder last: none of them is for anybody else. */
  readonly paths: readonly string[]
  readonly #memory: readonly string[]
  readonly #runtimeDir: string
  #noted: string | undefined

  constructor({ instance, environment, runtimeDir, sharedMemory = '/dev/shm' }: SecretFolderOptions) {
    this.#memory = memoryFor(environment, sharedMemory).map((parent) => join(parent, `agent-server-${instance}`))
    this.#runtimeDir = runtimeDir
    this.paths = [...this.#memory, runtimeDir]
  }

  /** Its path; it is there when this resolves. @throws the system's error where not even the runtime folder can be made */
  async make(): Promise<string> {
    for (const path of this.#memory) {
      if (!(await isMade(path))) continue
      await this.#note(path)
      return path
    }
    await makeFolder(this.#runtimeDir, ownFolder)
    return this.#runtimeDir
  }

  /** The folders that a server before this one has left, those in memory first. */
  async left(): Promise<readonly string[]> {
    const noted = await readJsonFile(join(this.#runtimeDir, noteName)).catch(() => undefined)
    const place = isObject(noted) && typeof noted['path'] === 'string' ? noted['path'] : ''
    // Of a server with another environment; a folder of another name is none of ours.
    const isOurs = isAbsolute(place) && this.#memory.some((path) => basename(path) === basename(place))
    const found: string[] = []
    for (const path of new Set([...this.#memory, ...(isOurs ? [place] : [])])) if (await isPrivate(path)) found.push(path)
    return [...found, this.#runtimeDir]
  }

  /** Takes it away; what is still in it stays for the next server. Never rejects. */
  async close(): Promise<void> {
    for (const path of this.#memory) if (await isPrivate(path)) await rmdir(path).catch(() => undefined)
  }

  /** For a server that is started without the variable that this one has. */
  async #note(path: string): Promise<void> {
    if (this.#noted === path) return
    await makeFolder(this.#runtimeDir, ownFolder)
    await writeJsonFile(join(this.#runtimeDir, noteName), { path })
    this.#noted = path
  }
}

/** Where such files would be now; undefined without a file system in memory that this user may write. Makes nothing. */
export async function findMemory(environment: Environment, sharedMemory = '/dev/shm'): Promise<string | undefined> {
  for (const parent of memoryFor(environment, sharedMemory)) if (await isMemory(parent)) return parent
  return undefined
}

/** Removes what a killed server has left in such a folder, by the names that are given there. */
export async function emptyLeft(folder: string, isKept: (name: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    if (ownName.test(name) && !isKept(name)) await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** Of lent credentials, homes of agents, shells, profiles of browsers, and the note. */
const ownName = /^(?:(?:lent|home)-[A-Za-z0-9]{6}|(?:shell|browser)-[0-9a-f-]{36}|\.?secret-folder\.json(?:\.[0-9a-f]{12}\.tmp)?)$/

function memoryFor({ XDG_RUNTIME_DIR: own = '' }: Environment, sharedMemory: string): string[] {
  return [...(isAbsolute(own) ? [own] : []), sharedMemory]
}

async function isMemory(path: string): Promise<boolean> {
  try {
    return memoryTypes.includes((await statfs(path)).type)
  } catch {
    return false
  }
}

async function isMade(path: string): Promise<boolean> {
  if (!(await isMemory(dirname(path)))) return false
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (thrown) {
    return systemCodeOf(thrown) === 'EEXIST' && isPrivate(path)
  }
}

/** A folder, no link to one, of this user, and closed to all others. */
async function isPrivate(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() === true && found.uid === process.getuid?.() && othersMay(found.mode) === 'nothing'
}
