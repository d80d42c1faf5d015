/**
 * The data folder: what is where, and which format it has.
 *
 *     format.json                      { "format": 1, "instance": "16 hex digits" }
 *     list.json                        what the list of conversations held at the last good end (see storage/list-file)
 *     reserve                          bytes to give back when the disk is full (see storage/reserve)
 *     conversations/<id>/
 *       events.jsonl  events.index     the log and its index (see storage/log)
 *       state.json                     a cache of the folded state (see storage/state-file)
 *       acp/                           what the external agent's program keeps, if it has a folder of its own
 *       observations/                  full copies of long outputs, written by the conversation
 *     temporary/                       half-made and removed conversations; emptied on start
 *
 * Other parts of the server keep folders of their own beside these. Folders made here are for their owner alone. Whether a
 * folder may be a data folder is decided in data-folder-claim, which server may use it by a lock.
 */
import { resolve } from 'node:path'
import { makeFolder, ownFolder, removeTemporaryFiles, storageError } from '../base/json-file.ts'
import { claimDataFolder, instanceOf } from './data-folder-claim.ts'

export interface DataFolder {
  readonly path: string
  readonly conversations: string
  readonly temporary: string
  readonly reserve: string
  /** Tells this folder from every other one on this machine, also from its own copies. Letters, digits and `-`. */
  readonly instance: string
}

/**
 * Opens a data folder, or makes one. Whoever calls this owns the folder: leftovers of interrupted writes are removed.
 * @throws AppError as `claimDataFolder`.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = {
    path: resolve(path),
    conversations: resolve(path, 'conversations'),
    temporary: resolve(path, 'temporary'),
    reserve: resolve(path, 'reserve'),
  }
  await claimDataFolder(folder.path)
  try {
    await removeTemporaryFiles(folder.path)
    await makeFolder(folder.conversations, ownFolder)
    await makeFolder(folder.temporary, ownFolder)
    return { ...folder, instance: await instanceOf(folder.path) }
  } catch (thrown) {
    throw storageError('Cannot open the data folder', thrown)
  }
}
