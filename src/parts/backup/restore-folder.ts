/**
 * The folder that a backup is restored to. It must be new, empty, or left by an interrupted restore of the same backup.
 *
 * During the restore it has `restoring.json` and no `format.json`, so that no server starts on it. At the end
 * `restoring.json` is renamed to `format.json`.
 */
import { join, resolve } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import { createJsonFile, readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import {
  failsAsStorage, isTemporaryFile, makeFolder, ownFolder, removeTree, rename, syncFolder,
} from '../../base/own-files.ts'
import { readdir } from '../../base/read-files.ts'
import { lockFolder } from '../../process/lock.ts'
import { assertOwnFolder } from '../../storage/data-folder-claim.ts'
import { orMissing } from './contents.ts'

const markerName = 'restoring.json'
const stagingName = 'restoring'
const emptyNames = /^(?:lock(?:\.heartbeat.*)?|owner\.json|lost\+found)$/

export class RestoreFolder {
  readonly path: string
  #count = 0

  private constructor(path: string) {
    this.path = path
  }

  /**
   * Checks that the folder is free for a restore.
   * @throws AppError `conflict` for content that no restore has made, `owned_by_another` when a server uses the folder,
   * `storage_failed`
   */
  static async assertFree(path: string): Promise<void> {
    const folder = resolve(path)
    const names = await failsAsStorage(`Cannot restore to "${folder}"`, () => orMissing(readdir(folder))) ?? []
    if (names.includes(markerName)) return
    const foreign = names.find((name) => !emptyNames.test(name) && !isTemporaryFile(name, markerName))
    if (foreign === undefined) return
    // If a server uses the folder, `lock` throws an error that names the server.
    if (names.includes('format.json')) await (await lock(folder)).release()
    const held = `it holds "${foreign.slice(0, 100)}"`
    throw new AppError('conflict', `Cannot restore to "${folder}": ${held}; expected a new or empty folder`)
  }

  /**
   * Runs `body` with the folder locked. Creates a missing folder.
   * @throws AppError `conflict` for a folder with other content, `owned_by_another`, `storage_full`, or
   * `storage_failed` (also for a folder of another user); the errors of `body`
   */
  static async withFolder<T>(path: string, body: (folder: RestoreFolder) => Promise<T>): Promise<T> {
    await RestoreFolder.assertFree(path)
    const folder = new RestoreFolder(resolve(path))
    await folder.#failsAsStorage(() => makeFolder(folder.path, ownFolder))
    await assertOwnFolder(folder.path)
    const held = await lock(folder.path)
    try {
      await RestoreFolder.assertFree(path)
      // The marker comes before other files, because a restore refuses a folder that has files but no marker.
      await createJsonFile(join(folder.path, markerName), {})
      await folder.#failsAsStorage(async () => {
        await removeTree(folder.staging)
        await makeFolder(folder.staging, ownFolder)
      })
      return await body(folder)
    } finally {
      await removeTree(folder.staging).catch(() => undefined) // If the folder stays, the next restore removes it.
      await held.release()
    }
  }

  /** A folder for files that are not in place yet. Emptied at the start and removed at the end. */
  get staging(): string {
    return join(this.path, stagingName)
  }

  /** Returns the path of a new file in `staging`. */
  stagedPath(): string {
    return join(this.staging, String(++this.#count))
  }

  /**
   * Writes the backup's digest, and the content of its `format.json`, to `restoring.json`.
   * @throws AppError `conflict` when a restore of another backup has begun there; `storage_full`, `storage_failed`
   */
  async begin(sha256: string, format: Readonly<Record<string, unknown>>): Promise<void> {
    const marker = join(this.path, markerName)
    const begun = textOf(objectOf(await readJsonFile(marker))['restored_from'])
    if (begun !== undefined && begun !== sha256) {
      const what = 'a restore of another backup has begun there'
      throw new AppError('conflict', `Cannot restore to "${this.path}": ${what}; remove the folder, or use another`)
    }
    await writeJsonFile(marker, { ...format, restored_from: sha256 })
  }

  /** Completes the restore: the folder is then a data folder. */
  async finish(): Promise<void> {
    await this.#failsAsStorage(async () => {
      await removeTree(this.staging)
      await rename(join(this.path, markerName), join(this.path, 'format.json'))
      await syncFolder(this.path)
    })
  }

  #failsAsStorage<T>(work: () => Promise<T>): Promise<T> {
    return failsAsStorage(`Cannot restore to "${this.path}"`, work)
  }
}

async function lock(folder: string): Promise<{ release(): Promise<void> }> {
  return lockFolder(folder, { clock: Date.now, onLost: () => undefined })
}
