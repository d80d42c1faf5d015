/**
 * Creates, lists and removes the folders of conversations, each as a whole.
 *
 * A new folder is made in `temporary/` and renamed into place. A removed folder is renamed back into `temporary/`, and
 * its content is deleted afterwards.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import {
  failsAsStorage, makeNewFolder, removeTree, rename, storageError, syncFolder, writeNew,
} from '../base/own-files.ts'
import { readdir } from '../base/read-files.ts'
import type { DataFolder } from './layout.ts'
import { ListFile } from './list-file.ts'

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Matches the names that `#temporaryPath` makes. */
const temporaryPattern = /^[0-9a-f-]{36}\.[0-9a-f]{12}$/

export class Catalogue {
  /** The file in which a server leaves the list of conversations for its next start. */
  readonly listFile: ListFile
  readonly #folder: DataFolder
  readonly #onError: (error: Error) => void
  readonly #removals = new Set<Promise<void>>()

  /** Starts to delete conversations left in `temporary/`. @param onError called for a folder that cannot be deleted */
  static async open(folder: DataFolder, onError: (error: Error) => void): Promise<Catalogue> {
    const catalogue = new Catalogue(folder, onError)
    const leftovers = await failsAsStorage('Cannot read the data folder', () => readdir(folder.temporary))
    for (const name of leftovers) if (temporaryPattern.test(name)) catalogue.#delete(join(folder.temporary, name))
    return catalogue
  }

  private constructor(folder: DataFolder, onError: (error: Error) => void) {
    this.listFile = new ListFile(folder)
    this.#folder = folder
    this.#onError = onError
  }

  list(): Promise<string[]> {
    return listConversations(this.#folder.conversations)
  }

  /** Returns the path of a conversation's folder, which may not exist. @throws TypeError for an id that is no UUID */
  pathOf(id: string): string {
    if (!idPattern.test(id)) throw new TypeError(`Cannot name a folder "${id}", expected a UUID`)
    return join(this.#folder.conversations, id)
  }

  /**
   * Creates the folder of a new conversation, durably. `fill` writes its log. Default: an empty log.
   * @throws the AppErrors of `fill`; AppError `conflict` when the id exists, `storage_full`, `storage_failed` or
   * `owned_by_another`
   */
  async create(id: string, fill: (directory: string) => Promise<void> = makeEmptyLog): Promise<string> {
    const path = this.pathOf(id)
    const made = this.#temporaryPath(id)
    try {
      await makeNewFolder(made)
      await makeNewFolder(join(made, 'observations'))
      await fill(made)
      await syncFolder(made)
      await rename(made, path)
      await syncFolder(this.#folder.conversations)
    } catch (thrown) {
      this.#delete(made)
      const code = systemCodeOf(thrown)
      const exists = code === 'ENOTEMPTY' || code === 'EEXIST'
      if (exists) throw new AppError('conflict', `Conversation "${id}" already exists`)
      throw storageError('Cannot make the conversation', thrown)
    }
    return path
  }

  /**
   * Removes a conversation's folder, whose log must be closed. Resolves when no crash can bring the folder back.
   * @throws AppError `not_found`, `storage_full`, `storage_failed` or `owned_by_another`
   */
  async remove(id: string): Promise<void> {
    const removed = this.#temporaryPath(id)
    try {
      await rename(this.pathOf(id), removed)
      await syncFolder(this.#folder.conversations)
    } catch (thrown) {
      if (systemCodeOf(thrown) === 'ENOENT') throw new AppError('not_found', `There is no conversation "${id}"`)
      throw storageError('Cannot remove the conversation', thrown)
    }
    this.#delete(removed)
  }

  /** Resolves when all deletions that are under way have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#removals)
  }

  #temporaryPath(id: string): string {
    return join(this.#folder.temporary, `${id}.${randomBytes(6).toString('hex')}`)
  }

  #delete(path: string): void {
    const removal = removeTree(path)
      .catch((thrown: unknown) => this.#onError(storageError('Cannot delete a removed conversation', thrown)))
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }
}

/** Returns the ids of all conversations in the folder `conversations/` of a data folder, in no fixed order. */
export async function listConversations(path: string): Promise<string[]> {
  const entries = await failsAsStorage('Cannot list the conversations', () => readdir(path, { withFileTypes: true }))
  return entries.filter((entry) => entry.isDirectory() && idPattern.test(entry.name)).map((entry) => entry.name)
}

async function makeEmptyLog(directory: string): Promise<void> {
  await writeNew(join(directory, 'events.jsonl'), '')
}
