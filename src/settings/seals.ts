/**
 * The file `seals.json`: the ids of the sealing (encryption) keys that stored values of a data folder may need.
 *
 * Each start of a server adds the id of its sealing key, if it is missing. A start that lacks one of the listed keys
 * logs an error.
 */
import { writeJsonFile } from '../base/json-file.ts'
import { readVersioned, unreadable } from './stored-file.ts'

export const sealsFile = 'seals.json'

const version = 1
const idShape = /^[0-9a-f]{8}$/

/** Returns the key ids in the file; an empty list if the file is missing. @throws AppError `settings_unreadable` */
export async function readSeals(path: string): Promise<readonly string[]> {
  const content = await readVersioned(path, version)
  if (content === undefined) return []
  const { keys } = content
  if (Array.isArray(keys) && keys.every(isId)) return keys
  throw unreadable(path, '"keys" is not a list of key ids')
}

/** Replaces the key ids in the file by `keys`. @throws the errors of `writeJsonFile` */
export async function writeSeals(path: string, keys: Iterable<string>): Promise<void> {
  await writeJsonFile(path, { version, keys: [...new Set(keys)].sort() })
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && idShape.test(value)
}
