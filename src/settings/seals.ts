/**
 * Which sealing keys a data folder may need, as noted in `seals.json`.
 *
 * A key is known by its id, which stands in each token it has sealed (see key-ids). Logs hold tokens that nobody reads before a
 * run, so each key is noted in `seals.json` when a server starts with it: a start without that key can say so at once. An id
 * leaves the note when a reseal has found that nothing needs the key, or when the operator says that it is lost.
 */
import { writeJsonFile } from '../base/json-file.ts'
import { readVersioned, unreadable } from './stored-file.ts'

export const sealsFile = 'seals.json'

const version = 1
const idShape = /^[0-9a-f]{8}$/

/** The noted ids. @throws AppError `settings_unreadable` */
export async function readSeals(path: string): Promise<readonly string[]> {
  const content = await readVersioned(path, version)
  if (content === undefined) return []
  const { keys } = content
  if (Array.isArray(keys) && keys.every(isId)) return keys
  throw unreadable(path, '"keys" is not a list of key ids')
}

/** Replaces the note. @throws AppError `storage_full`, `storage_failed` */
export async function writeSeals(path: string, keys: Iterable<string>): Promise<void> {
  await writeJsonFile(path, { version, keys: [...new Set(keys)].sort() })
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && idShape.test(value)
}
