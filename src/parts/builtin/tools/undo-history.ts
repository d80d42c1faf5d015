/**
 * Stores the contents that the file editor replaced, for undo.
 *
 * A private folder has an index and one encrypted file for each old content. An index entry describes one change of a
 * file. Calls of the same history must not overlap.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../../../base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../../base/json-file.ts'
import { isObject } from '../../../base/json.ts'
import {
  makeFolder, privateFolder, removeFile, removeTemporaryFiles, storageError, writeFileAtomically,
} from '../../../base/own-files.ts'
import { readFile } from '../../../base/read-files.ts'
import { keyOfToken, type Cipher } from '../../../settings/cipher.ts'
import type { ResealFolder } from '../../../part.ts'

export interface UndoHistory {
  /** Adds a change. Drops the oldest changes above the limits. Ignores a change with more than `limitBytes`. */
  record(change: Change): Promise<void>
  /** Returns the newest stored change of the file at `path`; undefined when no change of the file is stored. */
  newest(path: string): Promise<UndoEntry | undefined>
  /**
   * Returns the content before a change; undefined when there was no file.
   * @throws AppError `invalid_input` when the content cannot be decrypted; the error of a failed read
   */
  contentBefore(entry: UndoEntry): Promise<Buffer | undefined>
  /** Removes an undone change. @param version the file's version after the undo; `none` if the undo removed the file */
  forget(entry: UndoEntry, version: string): Promise<void>
}

export interface Change {
  readonly path: string
  /** The state before the change; undefined when there was no file. */
  readonly before: { readonly bytes: Buffer; readonly version: string } | undefined
  /** The version of the file after the change, as `writeFile` returned it. */
  readonly version: string
}

export interface UndoEntry {
  readonly id: string
  readonly path: string
  readonly version: string
  /** The version of the file before the change; `none` when the change made the file. */
  readonly versionBefore: string
  /** The size of the content before the change; 0 when the change made the file. */
  readonly bytes: number
}

export interface UndoLimits {
  readonly limitEntries: number
  readonly limitBytes: number
}

/** Encrypts the undo history in a conversation's folder again, with the newest key. */
export const resealFolder: ResealFolder = (folder, cipher) =>
  resealUndoHistory(join(folder, 'observations', 'undo'), cipher)

/**
 * Encrypts the old contents in `folder` again, with the newest key. Skips contents that no key can decrypt. Returns the
 * ids of the keys with which the contents are then encrypted. Must not run while the history is in use.
 * @throws AppError `storage_failed` when a file that exists cannot be read; the errors of `writeFileAtomically`
 */
export async function resealUndoHistory(folder: string, cipher: Cipher): Promise<ReadonlySet<string>> {
  const needed = new Set<string>()
  for (const entry of await readEntries(folder)) {
    if (entry.versionBefore === 'none') continue
    const path = join(folder, entry.id)
    const token = await readToken(path)
    const opened = cipher.open(token, entry.id)
    const next = opened === undefined ? token : cipher.seal(opened, entry.id)
    if (opened !== undefined && keyOfToken(token) !== keyOfToken(next)) {
      await writeFileAtomically(path, Buffer.from(next))
    }
    const key = keyOfToken(next)
    if (key !== undefined) needed.add(key)
  }
  return needed
}

/** Returns the text of a file; empty for a missing file. @throws AppError `storage_failed` */
async function readToken(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1')
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return ''
    throw storageError('Cannot read a content that undo needs', thrown)
  }
}

export function createUndoHistory(folder: string, limits: UndoLimits, cipher: Cipher): UndoHistory {
  const read = (): Promise<UndoEntry[]> => readEntries(folder)
  const contentPath = ({ id }: UndoEntry): string => join(folder, id)
  /** True when the temporary files that a crash left have been removed. */
  let isSwept = false
  return { record, newest, contentBefore, forget }

  async function record({ path, before, version }: Change): Promise<void> {
    if ((before?.bytes.length ?? 0) > limits.limitBytes) return
    const entry = {
      id: randomUUID(),
      path,
      version,
      versionBefore: before?.version ?? 'none',
      bytes: before?.bytes.length ?? 0,
    }
    await makeFolder(folder, privateFolder)
    if (!isSwept) await removeTemporaryFiles(folder)
    isSwept = true
    if (before !== undefined) {
      await writeFileAtomically(contentPath(entry), Buffer.from(cipher.seal(before.bytes.toString('latin1'), entry.id)))
    }
    await write([...(await read()), entry])
  }

  async function newest(path: string): Promise<UndoEntry | undefined> {
    return (await read()).findLast((entry) => entry.path === path)
  }

  async function contentBefore(entry: UndoEntry): Promise<Buffer | undefined> {
    if (entry.versionBefore === 'none') return undefined
    const text = cipher.open(await readFile(contentPath(entry), 'latin1'), entry.id)
    if (text === undefined) {
      throw new AppError(
        'invalid_input', `Cannot undo: the former content of "${entry.path}" was sealed with another key`,
      )
    }
    return Buffer.from(text, 'latin1')
  }

  /**
   * Removes the entry of an undone change. A change can be undone only while the file has the version of its entry. The
   * undo gave the file a new version, so the entry of the file's previous change gets the new version.
   */
  async function forget(entry: UndoEntry, version: string): Promise<void> {
    const rest = (await read()).filter(({ id }) => id !== entry.id)
    await write(rest.map((other) => {
      const standsAgain = other.path === entry.path && other.version === entry.versionBefore
      return standsAgain ? { ...other, version } : other
    }))
    await removeFile(contentPath(entry))
  }

  async function write(entries: readonly UndoEntry[]): Promise<void> {
    const kept = newestWithin(entries, limits)
    await writeJsonFile(indexIn(folder), kept)
    for (const entry of entries) if (!kept.includes(entry)) await removeFile(contentPath(entry))
  }
}

async function readEntries(folder: string): Promise<UndoEntry[]> {
  const index = await readJsonFile(indexIn(folder))
  return Array.isArray(index) ? index.filter(isEntry) : []
}

function indexIn(folder: string): string {
  return join(folder, 'index.json')
}

function newestWithin(entries: readonly UndoEntry[], { limitEntries, limitBytes }: UndoLimits): UndoEntry[] {
  const kept: UndoEntry[] = []
  let room = limitBytes
  for (const entry of entries.slice(-limitEntries).reverse()) {
    room -= entry.bytes
    if (room < 0) break
    kept.unshift(entry)
  }
  return kept
}

/** Returns whether the value is an entry of the index. Its `id` is a file name: 36 hex digits and hyphens. */
function isEntry(value: unknown): value is UndoEntry {
  if (!isObject(value)) return false
  const { id, path, version, versionBefore, bytes } = value
  return typeof id === 'string' && /^[0-9a-f-]{36}$/.test(id) && typeof path === 'string' &&
    typeof version === 'string' && typeof versionBefore === 'string' && typeof bytes === 'number'
}
