/**
 * Makes a private folder for files that hold secrets in plaintext while a program uses them, such as credential files.
 *
 * The folder is on a file system in memory where possible (in XDG_RUNTIME_DIR or /dev/shm), otherwise in the data
 * folder. A logout may remove the folder, so callers call `make` before each use.
 */
import { basename, dirname, isAbsolute, join } from 'node:path'
import { systemCodeOf } from '../base/errors.ts'
import { othersMay } from '../base/file-mode.ts'
import { isObject } from '../base/json.ts'
import { readJsonFile, writeJsonFile } from '../base/json-file.ts'
import { makeFolder, makeNewFolder, ownFolder, removeTree, rmdir } from '../base/own-files.ts'
import { lstat, readdir, statfs } from '../base/read-files.ts'
import type { Environment } from './environment.ts'

export interface SecretFolderOptions {
  /** The instance id of the data folder. */
  readonly instance: string
  readonly environment: Environment
  /**
   * A folder in the data folder. While the secret files are in memory, it has a note with the path of their folder.
   * Otherwise it has the secret files themselves.
   */
  readonly runtimeDir: string
  /** A folder on a file system in memory, in which every user may make entries. Default `/dev/shm`. */
  readonly sharedMemory?: string
}

/** TMPFS_MAGIC and RAMFS_MAGIC of statfs(2). */
const memoryTypes = [0x01021994, 0x858458f6]
const noteName = 'secret-folder.json'

export class SecretFolder {
  /** The paths that the folder may have, in order of preference: on file systems in memory, then `runtimeDir`. */
  readonly paths: readonly string[]
  readonly #memory: readonly string[]
  readonly #runtimeDir: string
  #noted: string | undefined

  constructor({ instance, environment, runtimeDir, sharedMemory = '/dev/shm' }: SecretFolderOptions) {
    this.#memory = memoryFor(environment, sharedMemory).map((parent) => join(parent, `agent-server-${instance}`))
    this.#runtimeDir = runtimeDir
    this.paths = [...this.#memory, runtimeDir]
  }

  /**
   * Makes the folder if needed and returns its path.
   * @throws the system's error when `runtimeDir` cannot be made, AppError when the note in it cannot be written
   */
  async make(): Promise<string> {
    for (const path of this.#memory) {
      if (!(await makeInMemory(path))) continue
      await this.#note(path)
      return path
    }
    await makeFolder(this.#runtimeDir, ownFolder)
    return this.#runtimeDir
  }

  /** Returns the folders in which a killed server may have left files, in memory and in the data folder. */
  async left(): Promise<readonly string[]> {
    const noted = await readJsonFile(join(this.#runtimeDir, noteName)).catch(() => undefined) // The note is unusable.
    const place = isObject(noted) && typeof noted['path'] === 'string' ? noted['path'] : ''
    // The killed server may have had another XDG_RUNTIME_DIR. Then its folder had another parent, but the same name.
    const isOurs = isAbsolute(place) && this.#memory.some((path) => basename(path) === basename(place))
    const found: string[] = []
    for (const path of new Set([...this.#memory, ...(isOurs ? [place] : [])])) {
      if (await isPrivate(path)) found.push(path)
    }
    return [...found, this.#runtimeDir]
  }

  /** Removes this server's folders in memory that are empty and private. Never rejects. */
  async close(): Promise<void> {
    for (const path of this.#memory) if (await isPrivate(path)) await rmdir(path).catch(() => undefined) // Not empty.
  }

  /** Writes the folder's path to the note (`noteName`), for a later server that may have another XDG_RUNTIME_DIR. */
  async #note(path: string): Promise<void> {
    if (this.#noted === path) return
    await makeFolder(this.#runtimeDir, ownFolder)
    await writeJsonFile(join(this.#runtimeDir, noteName), { path })
    this.#noted = path
  }
}

/** Returns the folder on a file system in memory in which `SecretFolder` would make its folder; else undefined. */
export async function findMemory(environment: Environment, sharedMemory = '/dev/shm'): Promise<string | undefined> {
  for (const parent of memoryFor(environment, sharedMemory)) if (await isMemory(parent)) return parent
  return undefined
}

/** Removes the entries that a killed server left in a folder: they match `ownName`, and `isKept` rejects them. */
export async function emptyLeft(folder: string, isKept: (name: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(() => []) // A missing or unreadable folder counts as empty.
  for (const name of names) {
    if (ownName.test(name) && !isKept(name)) await removeTree(join(folder, name))
  }
}

/** Matches the entries that a server makes: credentials, homes of agents, shells, browser profiles, the note. */
const ownName = new RegExp(`^(?:${[
  '(?:lent|home)-[A-Za-z0-9]{6}',
  '(?:shell|browser)-[0-9a-f-]{36}',
  String.raw`\.?secret-folder\.json(?:\.[0-9a-f]{12}\.tmp)?`,
].join('|')})$`)

function memoryFor({ XDG_RUNTIME_DIR: own = '' }: Environment, sharedMemory: string): string[] {
  return [...(isAbsolute(own) ? [own] : []), sharedMemory]
}

async function isMemory(path: string): Promise<boolean> {
  try {
    return memoryTypes.includes((await statfs(path)).type)
  } catch {
    return false // After any error the folder is not used.
  }
}

/** Makes a folder, if its parent is on a file system in memory. Returns true when the folder exists and is private. */
async function makeInMemory(path: string): Promise<boolean> {
  if (!(await isMemory(dirname(path)))) return false
  try {
    await makeNewFolder(path)
    return true
  } catch (thrown) {
    return systemCodeOf(thrown) === 'EEXIST' && isPrivate(path)
  }
}

/** True for a folder (no link) that belongs to this user and is closed to all others. */
async function isPrivate(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined) // A missing or unreachable folder is not private.
  return found?.isDirectory() === true && found.uid === process.getuid?.() && othersMay(found.mode) === 'nothing'
}
