/**
 * The layout of the data folder.
 *
 *     format.json                      { "format": 1, "instance": "16 hex digits" }
 *     list.json                        the list of conversations at the last orderly end
 *     reserve                          space that is released when the disk is full
 *     conversations/<id>/
 *       events.jsonl  events.index     the log and its index
 *       state.json                     a cache of the state that the log gives
 *       acp/                           files of the external agent's program, if it has a folder of its own
 *       observations/                  full copies of long outputs of tools
 *       events.cut-<offset>            bytes that a repair cut off the log
 *     temporary/                       half-made and removed conversations; deleted on start
 *
 * Other modules, and the parts (optional modules), have their own files and folders beside these.
 */
import { join, resolve } from 'node:path'
import { makeFolder, ownFolder, removeTemporaryFiles, storageError } from '../base/own-files.ts'
import { claimDataFolder, instanceOf } from './data-folder-claim.ts'

export interface DataFolder {
  readonly path: string
  readonly conversations: string
  readonly temporary: string
  readonly reserve: string
  /** The id of the data folder, in letters, digits and `-`. It depends on the path of the folder. */
  readonly instance: string
}

/**
 * Opens or creates a data folder, and removes temporary files. The caller must hold the folder's lock (process/lock):
 * otherwise another server could be writing such a file. @throws the errors of `claimDataFolder`
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

/** Removes temporary files that a crash left in the folder of a conversation. Never rejects. */
export async function sweepConversation(directory: string): Promise<void> {
  // A file that cannot be removed does no harm: the next opening of the conversation tries again.
  await Promise.allSettled([directory, join(directory, 'observations')].map(removeTemporaryFiles))
}
