/**
 * The stored named keys: the files `named-keys/NAME.json` of the data folder.
 *
 * A file is created and removed as a whole and never changed. So the command and a running server need no lock.
 */
import { join } from 'node:path'
import { scopes, type Scope } from '../../access.ts'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { numberOf, objectOf, textOf } from '../../base/fields.ts'
import { createJsonFile, readJsonFile } from '../../base/json-file.ts'
import { makeFolder, ownFolder, removeFile, storageError, syncFolder } from '../../base/own-files.ts'
import { isThere, readdir } from '../../base/read-files.ts'
import type { KeyLimits, Tag } from '../../http/principal.ts'

export interface StoredKey {
  readonly name: string
  readonly id: string
  readonly digest: string
  readonly scopes: readonly Scope[]
  /** The time of the creation, in milliseconds since the epoch. */
  readonly created: number
  /** The time when the key expires, in milliseconds since the epoch; undefined for a key that does not expire. */
  readonly expires: number | undefined
  readonly tag: Tag | undefined
  readonly limits: KeyLimits
}

/** The most named keys of a data folder. */
export const keyLimit = 1000

export function isKeyName(text: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(text)
}

export function folderOf(dataDir: string): string {
  return join(dataDir, 'named-keys')
}

/** Stores a key durably. @throws AppError `conflict` (taken name, or `keyLimit`), `storage_full`, `storage_failed` */
export async function storeKey(dataDir: string, key: StoredKey): Promise<void> {
  const folder = folderOf(dataDir)
  try {
    await makeFolder(folder, ownFolder)
  } catch (thrown) {
    throw storageError('Cannot make the folder of the named keys', thrown)
  }
  if ((await namesIn(dataDir)).length >= keyLimit) {
    throw new AppError('conflict', `There are ${keyLimit} named keys already: revoke one first`)
  }
  const isNew = await createJsonFile(pathOf(dataDir, key.name), key)
  if (isNew) return
  throw new AppError('conflict', `There is a key "${key.name}" already: revoke it first, or use another name`)
}

/** Removes a key durably. Returns false when there is none. @throws AppError `storage_failed` */
export async function removeKey(dataDir: string, name: string): Promise<boolean> {
  const path = pathOf(dataDir, name)
  if (!isKeyName(name) || !await isThere(path)) return false
  try {
    await removeFile(path)
    await syncFolder(folderOf(dataDir))
  } catch (thrown) {
    throw storageError(`Cannot remove the key "${name}"`, thrown)
  }
  return true
}

/** Returns the names of the stored keys, sorted. @throws AppError `storage_failed` */
export async function namesIn(dataDir: string): Promise<string[]> {
  const files = await readdir(folderOf(dataDir)).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return []
    throw storageError('Cannot read the folder of the named keys', thrown)
  })
  const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length))
  return names.filter(isKeyName).sort()
}

/** Reads a key; undefined when there is none. @throws AppError `storage_failed` for an unreadable or damaged file */
export async function readKey(dataDir: string, name: string): Promise<StoredKey | undefined> {
  const stored = await readJsonFile(pathOf(dataDir, name), { limitBytes: 16 * 1024 })
  if (stored === undefined) return undefined
  const key = keyFrom(name, stored)
  if (key !== undefined) return key
  throw new AppError('storage_failed', `The file of the key "${name}" is damaged: revoke the key`)
}

function keyFrom(name: string, stored: unknown): StoredKey | undefined {
  const { id, digest, scopes: given, created, expires, tag, limits } = objectOf(stored)
  const [keyId, keyDigest, at] = [textOf(id), textOf(digest), numberOf(created)]
  if (keyId === undefined || keyDigest === undefined || at === undefined || !Array.isArray(given)) return undefined
  const end = numberOf(expires)
  if (expires !== undefined && end === undefined) return undefined
  const restriction = tagFrom(tag)
  if (tag !== undefined && restriction === undefined) return undefined
  const { conversations, runs, diskBytes } = objectOf(limits)
  const limited = { conversations: numberOf(conversations), runs: numberOf(runs), diskBytes: numberOf(diskBytes) }
  if (conversations !== undefined && limited.conversations === undefined) return undefined
  if (runs !== undefined && limited.runs === undefined) return undefined
  if (diskBytes !== undefined && limited.diskBytes === undefined) return undefined
  const known = scopes.filter((scope) => given.includes(scope))
  return {
    name, id: keyId, digest: keyDigest, scopes: known, created: at, expires: end, tag: restriction, limits: limited,
  }
}

function tagFrom(stored: unknown): Tag | undefined {
  const { name, value } = objectOf(stored)
  return typeof name === 'string' && typeof value === 'string' ? { name, value } : undefined
}

function pathOf(dataDir: string, name: string): string {
  return join(folderOf(dataDir), `${name}.json`)
}
