/**
 * The worktrees that this server made and has to remove: a JSON file for each conversation.
 *
 * A record is written before its worktree is made, so that a killed server leaves no worktree without a record.
 */
import { join } from 'node:path'
import { systemCodeOf } from '../../base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { isObject } from '../../base/json.ts'
import { failsAsStorage, makeFolder, ownFolder, removeFile, removeTemporaryFiles } from '../../base/own-files.ts'
import { isThere, readdir } from '../../base/read-files.ts'

export interface Worktree {
  /** The id of the conversation that the worktree was made for. */
  readonly id: string
  /** The root folder of the worktree. Its parent folder was made for this worktree only. */
  readonly path: string
  /** The folder inside the worktree that the conversation works in. */
  readonly folder: string
  /** The data folder of the repository, which all its worktrees share. */
  readonly gitDir: string
  readonly branch: string
  /** The object name of the commit at which the branch began. */
  readonly base: string
  /** `planned`: nothing is at `path` yet. `half-made`: git may not have finished. `complete`: agents can work there. */
  readonly state: (typeof states)[number]
}

const states = ['planned', 'half-made', 'complete'] as const
const texts = ['id', 'path', 'folder', 'gitDir', 'branch', 'base'] as const

export class WorktreeRecords {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Returns all readable records. @throws the error of the file system, if the folder cannot be read */
  async list(): Promise<readonly Worktree[]> {
    const names = await readdir(this.#dir).catch((thrown: unknown) => {
      if (systemCodeOf(thrown) === 'ENOENT') return []
      throw thrown
    })
    const ids = names.flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? [])
    // The file of an unreadable record stays.
    return (await Promise.all(ids.map((id) => this.read(id).catch(() => undefined)))).flatMap((one) => one ?? [])
  }

  /**
   * Returns a record; undefined when the file is missing or has no record of this id.
   * @throws AppError `storage_failed` when the file cannot be read or is not JSON
   */
  async read(id: string): Promise<Worktree | undefined> {
    const value = await readJsonFile(this.#pathOf(id))
    return isWorktree(value) && value.id === id ? value : undefined
  }

  /** Stores a record. @throws AppError `storage_full` or `storage_failed`; the errors of `writeJsonFile` */
  async write(worktree: Worktree): Promise<void> {
    await failsAsStorage('Cannot make the folder of worktrees', () => makeFolder(this.#dir, ownFolder))
    await writeJsonFile(this.#pathOf(worktree.id), worktree)
  }

  /** Removes temporary files of writes that a crash interrupted. Call it before the first `write`. */
  async removeTemporary(): Promise<void> {
    if (await isThere(this.#dir)) await removeTemporaryFiles(this.#dir)
  }

  async delete(id: string): Promise<void> {
    await removeFile(this.#pathOf(id))
  }

  #pathOf(id: string): string {
    return join(this.#dir, `${id}.json`)
  }
}

function isWorktree(value: unknown): value is Worktree {
  if (!isObject(value) || !texts.every((name) => typeof value[name] === 'string')) return false
  return states.some((state) => state === value['state'])
}
