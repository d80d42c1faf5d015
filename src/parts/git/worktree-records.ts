/**
 * The worktrees that this server made and has to remove: a JSON file for each conversation, in `worktrees/` of the data
 * folder.
 *
 * A record is written before anything is made, so a killed server leaves no worktree without a record. It is deleted
 * after the worktree was removed, or was kept for its user.
 */
import { join } from 'node:path'
import { systemCodeOf } from '../../base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { isObject } from '../../base/json.ts'
import { makeFolder, ownFolder, removeFile, removeTemporaryFiles } from '../../base/own-files.ts'
import { isThere, readdir } from '../../base/read-files.ts'

export interface Worktree {
  /** The id of the conversation that the worktree was made for. */
  readonly id: string
  /** The root of the worktree: a folder inside a folder that was made for it. */
  readonly path: string
  /** The folder inside the worktree that the conversation works in. */
  readonly folder: string
  /** The data folder of the repository, which all its worktrees share. */
  readonly gitDir: string
  readonly branch: string
  /** The name of the commit that the branch began with. */
  readonly base: string
  /** Only in a `complete` worktree may an agent have worked. A `planned` worktree has no folder, or an empty one. */
  readonly state: (typeof states)[number]
}

const states = ['planned', 'half-made', 'complete'] as const
const texts = ['id', 'path', 'folder', 'gitDir', 'branch', 'base'] as const

export class WorktreeRecords {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  /** Returns all records; unreadable files are left out. @throws the error of the file system */
  async list(): Promise<readonly Worktree[]> {
    const names = await readdir(this.#dir).catch((thrown: unknown) => {
      if (systemCodeOf(thrown) === 'ENOENT') return []
      throw thrown
    })
    const ids = names.flatMap((name) => /^([0-9a-f-]{36})\.json$/.exec(name)?.[1] ?? [])
    return (await Promise.all(ids.map((id) => this.read(id).catch(() => undefined)))).flatMap((one) => one ?? [])
  }

  /** Returns a record; undefined when there is none. @throws AppError `storage_failed` */
  async read(id: string): Promise<Worktree | undefined> {
    const value = await readJsonFile(this.#pathOf(id))
    return isWorktree(value) && value.id === id ? value : undefined
  }

  /** @throws AppError `storage_full`, `storage_failed` */
  async write(worktree: Worktree): Promise<void> {
    await makeFolder(this.#dir, ownFolder)
    await writeJsonFile(this.#pathOf(worktree.id), worktree)
  }

  /** Removes what a crash left of interrupted writes. Call it before the first `write`. */
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
