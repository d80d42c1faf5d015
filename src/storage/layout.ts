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
 * Other parts of the server keep folders of their own beside these. Folders made here are for their owner alone; the
 * mode of a data folder that exists is the operator's choice. Who may use the folder is decided elsewhere (a lock).
 */
import { hash, randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { makeFolder, ownFolder, readJsonFile, removeTemporaryFiles, storageError, writeJsonFile } from '../base/json-file.ts'

/** The format that this version reads and writes. A change to it comes with a migration. */
export const formatNumber = 1

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
 * @throws AppError `format_unsupported` for a folder of another format, `storage_full` or `storage_failed`.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const folder = {
    path: resolve(path),
    conversations: resolve(path, 'conversations'),
    temporary: resolve(path, 'temporary'),
    reserve: resolve(path, 'reserve'),
  }
  try {
    await makeFolder(folder.path, ownFolder)
    await removeTemporaryFiles(folder.path)
    const made = await readFormat(folder.path)
    await makeFolder(folder.conversations, ownFolder)
    await makeFolder(folder.temporary, ownFolder)
    return { ...folder, instance: `${made}-${hash('sha256', folder.path, 'hex').slice(0, 8)}` }
  } catch (thrown) {
    throw storageError('Cannot open the data folder', thrown)
  }
}

/** Checks the format, or writes it into a new folder; gives the id that the folder got when it was made. */
async function readFormat(path: string): Promise<string> {
  const file = join(path, 'format.json')
  const stored = await readJsonFile(file, { limitBytes: 4096 })
  if (stored === undefined) {
    const instance = randomBytes(8).toString('hex')
    await writeJsonFile(file, { format: formatNumber, instance })
    return instance
  }
  const { format, instance } = isObject(stored) ? stored : {}
  if (format === formatNumber && typeof instance === 'string' && /^[0-9a-f]{16}$/.test(instance)) return instance
  throw new AppError(
    'format_unsupported',
    typeof format === 'number' && format > formatNumber
      ? `Cannot open the data folder: its format is ${format}, this version knows up to ${formatNumber}; use a newer version`
      : `Cannot open the data folder: "format.json" does not say format ${formatNumber}`,
  )
}
