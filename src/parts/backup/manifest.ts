/**
 * The manifest of a backup, `manifest.jsonl`: a header, a line for each file and empty folder, and a last line.
 *
 * A file consists of pieces, each named by its SHA-256. The last line has the SHA-256 of all lines before it. A
 * manifest whose lines have another digest is refused.
 */
import { createHash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import { numberOf, objectOf, textOf, type Fields } from '../../base/fields.ts'
import { parseOwnJson } from '../../base/json.ts'
import { isLeftOut } from './contents.ts'

/** A range of bytes of a file, identified by its digest. */
export interface Piece {
  readonly sha256: string
  readonly size: number
}

export interface FileEntry {
  readonly path: string
  readonly size: number
  readonly pieces: readonly Piece[]
  readonly isExecutable: boolean
  /**
   * Inode, size and mtime. If they are unchanged, the next backup does not read the file. Undefined for logs, settings,
   * and files changed during the backup or just before it.
   */
  readonly stamp: string | undefined
  /** For a log: the offset and the hash of its last line. Undefined for other files. */
  readonly last: LastLine | undefined
}

export interface LastLine {
  readonly start: number
  readonly hash: string
}

export interface Header {
  /** The time at which the backup began. */
  readonly made: string
  /** True unless the backup was made without the folders `keys` and `named-keys`. */
  readonly hasKeys: boolean
  /** Ids of the keys that `seals.json` names. Values in the backup may be encrypted with them. */
  readonly seals: readonly string[]
}

export interface Manifest {
  readonly header: Header
  readonly files: ReadonlyMap<string, FileEntry>
  readonly emptyFolders: readonly string[]
  /** The digest of the manifest, which identifies the backup. */
  readonly sha256: string
}

export const manifestName = 'manifest.jsonl'
/** The most files and empty folders of a backup. */
export const entryLimit = 1_000_000
const formatNumber = 1

/** Returns the lines of a manifest and its digest. @throws AppError `storage_failed` above `entryLimit` */
export function formatManifest(
  { header, files, emptyFolders }: Omit<Manifest, 'sha256'>,
): { readonly lines: readonly string[]; readonly sha256: string } {
  if (files.size + emptyFolders.length > entryLimit) {
    throw new AppError('storage_failed', `Cannot back up more than ${entryLimit} files`)
  }
  const { made, hasKeys: keys, seals } = header
  const lines = [
    JSON.stringify({ backup: formatNumber, made, keys, seals }),
    ...[...files.values()].map(lineOf),
    ...emptyFolders.map((folder) => JSON.stringify({ folder })),
  ]
  const sha256 = digestOf(lines)
  return { lines: [...lines, JSON.stringify({ files: files.size, sha256 })], sha256 }
}

function lineOf({ path, size, pieces, isExecutable, stamp, last }: FileEntry): string {
  return JSON.stringify({
    path, size, pieces: pieces.map((piece) => [piece.sha256, piece.size]),
    ...(isExecutable ? { executable: true } : {}),
    ...(stamp === undefined ? {} : { stamp }),
    ...(last === undefined ? {} : { last: [last.start, last.hash] }),
  })
}

/**
 * Parses the lines of a manifest.
 * @throws AppError `format_unsupported` for a newer version; `storage_failed` for damage or a forbidden path
 */
export function parseManifest(lines: readonly string[]): Manifest {
  const first = parsed(lines[0])
  if (typeof first['backup'] !== 'number') throw damaged('it does not begin like a manifest')
  if (first['backup'] > formatNumber) {
    throw new AppError('format_unsupported', 'Cannot read the backup: a newer version of this server made it')
  }
  const end = parsed(lines.at(-1))
  const sha256 = digestOf(lines.slice(0, -1))
  if (lines.length < 2 || end['sha256'] !== sha256) throw damaged('its manifest is cut off or was changed')
  if (lines.length > entryLimit + 2) throw damaged(`it has more than ${entryLimit} files`)
  const files = new Map<string, FileEntry>()
  const folders = new Set<string>()
  for (const line of lines.slice(1, -1)) {
    const entry = parsed(line)
    const path = pathOf(entry['path'] ?? entry['folder'])
    if (files.has(path) || folders.has(path)) throw damaged(`its manifest has "${shown(path)}" twice`)
    if ('folder' in entry) folders.add(path)
    else files.set(path, fileOf(path, entry))
  }
  if (end['files'] !== files.size) throw damaged('its manifest has another number of files than it says')
  return { header: headerOf(first), files, emptyFolders: [...folders], sha256 }
}

function headerOf({ made, keys, seals }: Fields): Header {
  const ids = Array.isArray(seals) ? seals.filter((id) => typeof id === 'string') : []
  return { made: textOf(made) ?? '', hasKeys: keys === true, seals: ids }
}

function fileOf(path: string, { size, pieces, executable, stamp, last }: Fields): FileEntry {
  const bytes = sizeOf(size)
  const list = Array.isArray(pieces) ? pieces.map(pieceOf) : []
  const sum = list.reduce((total, piece) => total + piece.size, 0)
  if (sum !== bytes) throw damaged(`the pieces of "${shown(path)}" have another size than it`)
  return {
    path, size: bytes, pieces: list, isExecutable: executable === true, stamp: textOf(stamp), last: lastOf(last),
  }
}

function pieceOf(value: unknown): Piece {
  const [sha256, size]: readonly unknown[] = Array.isArray(value) ? value : []
  const isDigest = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  if (!isDigest) throw damaged('its manifest has a digest of no form')
  return { sha256, size: sizeOf(size) }
}

function lastOf(value: unknown): LastLine | undefined {
  const [start, hash]: readonly unknown[] = Array.isArray(value) ? value : []
  const at = numberOf(start)
  return at === undefined || typeof hash !== 'string' ? undefined : { start: at, hash }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw damaged('its manifest has a size that is no number')
}

const pathLimit = 4096

/** Returns the path if it stays in the data folder and may be in a backup. @throws AppError `storage_failed` */
function pathOf(value: unknown): string {
  const path = textOf(value) ?? ''
  const parts = path.split('/')
  const isBad = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (!isBad && path.length <= pathLimit && !isLeftOut(parts[0] ?? '')) return path
  throw damaged(`its manifest has the path "${shown(path)}"`)
}

function parsed(line = ''): Fields {
  try {
    return objectOf(parseOwnJson(line))
  } catch {
    throw damaged('a line of its manifest is no JSON')
  }
}

function digestOf(lines: readonly string[]): string {
  const digest = createHash('sha256')
  for (const line of lines) digest.update(`${line}\n`)
  return digest.digest('hex')
}

/** Returns at most 200 characters without control characters, for an error message. */
function shown(path: string): string {
  return path.replace(/\p{C}/gu, '?').slice(0, 200)
}

export function damaged(why: string): AppError {
  return new AppError('storage_failed', `Cannot use the backup: ${why}`)
}
