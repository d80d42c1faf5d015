/**
 * Decides which files of a data folder belong in a backup.
 *
 * A file is in the backup unless this module excludes it, so files of new features are not forgotten. A link is left
 * out. But a log must not be a link, and neither must an entry at the top of the data folder that is to be backed up.
 */
import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { failsAsStorage } from '../../base/own-files.ts'
import { lstat, readdir } from '../../base/read-files.ts'
import { listConversations } from '../../storage/catalogue.ts'

export interface FoundFile {
  readonly kind: 'file'
  /** The path relative to the data folder. */
  readonly path: string
  readonly stats: BigIntStats
}

export type Found =
  | FoundFile
  /** `empty`: a folder without entries. `left`: a link or a special file, which is left out. */
  | { readonly kind: 'empty' | 'left'; readonly path: string }

export interface TopEntries {
  /** The names of the `*.json` files at the top of the data folder, and of the folders of keys and worktree records. */
  readonly settings: readonly string[]
  /** The other files and folders to back up, except `audit` and `conversations`. */
  readonly others: readonly string[]
}

/** The file in the data folder that tells when and where the newest backup was made. */
export const lastBackupName = 'backup-last.json'

const leftOut: ReadonlySet<string> = new Set([
  'agents', lastBackupName, 'console-sessions.json', 'list.json', 'lock', 'lost+found', 'owner.json', 'reserve',
  'restoring', 'restoring.json', 'runtime', 'temporary',
])
const ofLogs: ReadonlySet<string> = new Set(['audit', 'conversations'])
const settingsFolders: ReadonlySet<string> = new Set(['keys', 'named-keys', 'worktrees'])
/** The folders with sealing keys, the session key and digests of named keys. */
export const keyFolders: ReadonlySet<string> = new Set(['keys', 'named-keys'])
/** The log of a conversation, which `backup.ts` adds separately, and files that are made from the log. */
const ownFiles: ReadonlySet<string> = new Set(['events.jsonl', 'events.index', 'state.json'])
const temporaryFile = /^\..+\.[0-9a-f]{12}\.tmp$/
const heartbeatFile = /^lock\.heartbeat/

/** Lists what to back up besides logs. Lists keys only with `withKeys`. @throws AppError `storage_failed` for a link */
export async function topEntries(dataDir: string, { withKeys }: { readonly withKeys: boolean }): Promise<TopEntries> {
  const settings: string[] = []
  const others: string[] = []
  for (const entry of await readdir(dataDir, { withFileTypes: true })) {
    const { name } = entry
    if (isLeftOut(name)) continue
    if (entry.isSymbolicLink()) {
      throw new AppError('storage_failed', `Cannot back up "${name}" of the data folder: it is a link`)
    }
    if (ofLogs.has(name) || (!withKeys && keyFolders.has(name))) continue
    const isOfSettings = entry.isDirectory() ? settingsFolders.has(name) : name.endsWith('.json')
    ;(isOfSettings ? settings : others).push(name)
  }
  return { settings: settings.sort(), others: others.sort() }
}

/** True if the backup leaves out the entry with this name at the top of a data folder. */
export function isLeftOut(name: string): boolean {
  return leftOut.has(name) || temporaryFile.test(name) || heartbeatFile.test(name)
}

/** Returns the names of installed agents, which are in no backup. */
export async function installedAgents(dataDir: string): Promise<readonly string[]> {
  const names = await orMissing(readdir(join(dataDir, 'agents'))) ?? []
  return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length)).sort()
}

/**
 * Yields the files, empty folders, links and special files at and below a path. Leaves out temporary files and
 * `extensions/work`. Ignores a file that is removed meanwhile.
 */
export async function* filesAt(dataDir: string, path: string): AsyncGenerator<Found, void> {
  const stats = await failsAsStorage(`Cannot back up "${path}"`, () => {
    return orMissing(lstat(join(dataDir, path), { bigint: true }))
  })
  if (stats === undefined) return
  if (stats.isFile()) yield { kind: 'file', path, stats }
  else if (stats.isDirectory()) yield* filesBelow(dataDir, path)
  else yield { kind: 'left', path }
}

async function* filesBelow(dataDir: string, folder: string): AsyncGenerator<Found, void> {
  const names = await failsAsStorage(`Cannot back up "${folder}"`, () => orMissing(readdir(join(dataDir, folder))))
  if (names === undefined) return
  if (names.length === 0) yield { kind: 'empty', path: folder }
  for (const name of names.sort()) {
    const path = `${folder}/${name}`
    if (!temporaryFile.test(name) && path !== 'extensions/work') yield* filesAt(dataDir, path)
  }
}

/** Yields the entries of a conversation's folder as `filesAt` does, except the log, the index and the cached state. */
export async function* filesOfConversation(dataDir: string, id: string): AsyncGenerator<Found, void> {
  const folder = `conversations/${id}`
  const names = await orMissing(readdir(join(dataDir, folder)))
  for (const name of names?.sort() ?? []) {
    if (!ownFiles.has(name) && !temporaryFile.test(name)) yield* filesAt(dataDir, `${folder}/${name}`)
  }
}

/** Returns the paths of the logs: of the audit trail first, then of the conversations. */
export async function logsIn(dataDir: string): Promise<readonly string[]> {
  const audit = await orMissing(readdir(join(dataDir, 'audit'))) ?? []
  const trail = audit.filter((name) => /^\d{6}\.jsonl$/.test(name)).sort().map((name) => `audit/${name}`)
  const folders = await orMissing(lstat(join(dataDir, 'conversations')))
  const ids = folders === undefined ? [] : await listConversations(join(dataDir, 'conversations'))
  return [...trail, ...ids.sort().map((id) => `conversations/${id}/events.jsonl`)]
}

/** True for a file in `observations/`. It only grows or is replaced by a rename, so a hard link can replace a copy. */
export function mayBeLinked(path: string): boolean {
  return /^conversations\/[^/]+\/observations\//.test(path)
}

/** Resolves to undefined when the file or folder is missing. */
export async function orMissing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(thrown) ?? '')) return undefined
    throw thrown
  }
}
