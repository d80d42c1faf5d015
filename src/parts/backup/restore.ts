/**
 * Restores a backup to a new folder, and checks the digest of each piece.
 *
 * Writes nothing outside of the folder: the paths of the manifest were checked, and no link is made. A file that an
 * interrupted restore has left is kept if its content is right.
 */
import { dirname, join } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { objectOf } from '../../base/fields.ts'
import { parseOwnJson } from '../../base/json.ts'
import {
  chmod, makeFolder, openNew, ownFolder, privateFolder, rename, storageError, syncFolder,
} from '../../base/own-files.ts'
import { lstat, openForReading, readFile, statfs } from '../../base/read-files.ts'
import { Limiter } from '../../base/limiter.ts'
import { piecePath } from './backup-folder.ts'
import { orMissing } from './contents.ts'
import { damaged, type FileEntry, type Manifest, type Piece } from './manifest.ts'
import type { RestoreFolder } from './restore-folder.ts'
import { bytesOf, PieceOf } from './target.ts'
import { moveWorkspaces, type Moved, type PathMap } from './workspace-map.ts'

export interface RestoreOptions {
  /** The folder whose subfolder `files` has the pieces. */
  readonly from: string
  /** True when `from` is inside `to`. Pieces may then be moved instead of copied. */
  readonly isStaged: boolean
  readonly manifest: Manifest
  readonly to: RestoreFolder
  readonly map: PathMap
  readonly signal: AbortSignal
}

/**
 * Restores the backup in `from` to the folder `to`, and replaces paths of workspaces as `map` says.
 * @throws AppError `storage_failed`, `storage_full`, `format_unsupported`, `conflict`, `not_found` (`moveWorkspace`);
 * the signal's reason if it is an AppError, else `storage_failed`
 */
export async function restore(options: RestoreOptions): Promise<Moved> {
  const { from, manifest, to, map, signal, isStaged } = options
  try {
    const format = await formatIn(from, manifest)
    await assertSpace(options)
    await to.begin(manifest.sha256, format)
    const folders = await makeFolders(to.path, manifest)
    const limiter = new Limiter(8)
    const files = [...manifest.files.values()].filter(({ path }) => path !== 'format.json')
    const movable = isStaged ? usedOnce(manifest) : new Set<string>()
    await Promise.all(files.map((file) => limiter.run(() => restoreFile(options, file, movable))))
    const moved = map.length === 0 ? { conversations: 0, settings: [] }
      : await moveWorkspaces(to.path, { paths: files.map(({ path }) => path), map, signal })
    for (const folder of folders) await syncFolder(folder)
    await to.finish()
    return moved
  } catch (thrown) {
    throw storageError('Cannot restore', thrown)
  }
}

/**
 * Returns the content of the backup's `format.json`.
 * @throws AppError `format_unsupported` for a format other than 1, `storage_failed` for a missing or damaged file
 */
export async function formatIn(from: string, manifest: Manifest): Promise<Readonly<Record<string, unknown>>> {
  const entry = manifest.files.get('format.json')
  const [piece] = entry?.pieces ?? []
  if (piece === undefined || piece.size > 4096) throw damaged('it has no "format.json"')
  await checkPiece(from, piece, 'format.json')
  const format = objectOf(parseOwnJson((await readFile(piecePath(from, piece), 'utf8')).slice(0, piece.size)))
  if (format['format'] === 1) return format
  throw new AppError('format_unsupported', 'Cannot restore: the backup has the data of another version of this server')
}

/** Reads every piece and checks its digest. @throws AppError `storage_failed`; the signal's reason */
export async function checkPieces(from: string, manifest: Manifest, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>()
  for (const { path, pieces } of manifest.files.values()) {
    for (const piece of pieces) {
      signal.throwIfAborted()
      if (!seen.has(piece.sha256)) await checkPiece(from, piece, path)
      seen.add(piece.sha256)
    }
  }
}

async function checkPiece(from: string, piece: Piece, path: string): Promise<void> {
  await copyPiece(from, piece, { path, write: async () => undefined })
}

interface PieceUse {
  /** The path, in the data folder, of a file that has the piece. Errors name this file. */
  readonly path: string
  readonly write: (bytes: Buffer) => Promise<unknown>
}

/** Passes the bytes of a piece to `write`, then checks size and digest. @throws AppError `storage_failed` */
async function copyPiece(from: string, piece: Piece, { path, write }: PieceUse): Promise<void> {
  const file = await openForReading(piecePath(from, piece)).catch((thrown: unknown) => {
    throw damagedPiece(path, systemCodeOf(thrown) === 'ENOENT' ? 'a piece of it is missing' : 'it cannot be read')
  })
  try {
    const content = new PieceOf()
    for await (const bytes of bytesOf({ file, from: 0, to: piece.size })) {
      content.add(bytes)
      await write(bytes)
    }
    const { sha256, size } = content.end()
    if (size !== piece.size || sha256 !== piece.sha256) throw damagedPiece(path, 'its digest is wrong')
  } finally {
    await file.close()
  }
}

function damagedPiece(path: string, why: string): AppError {
  return damaged(`"${path.replace(/\p{C}/gu, '?').slice(0, 200)}" is damaged: ${why}`)
}

/** Refuses the restore if the free space on the disk is known and too small. @throws AppError `storage_full` */
async function assertSpace({ manifest, to, isStaged }: RestoreOptions): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(to.path)
  const movable = isStaged ? usedOnce(manifest) : new Set<string>()
  const copied = [...manifest.files.values()].filter(({ pieces: [first] }) => !movable.has(first?.sha256 ?? ''))
  let missing = copied.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size } of copied) {
    if (blocks === 0 || missing <= bavail * bsize) return
    // Does not count the bytes that an interrupted restore has already written to this file.
    missing -= Math.min(size, (await orMissing(lstat(join(to.path, path))))?.size ?? 0)
  }
  if (missing <= bavail * bsize) return
  throw new AppError('storage_full', `Cannot restore: ${missing} bytes are needed, ${bavail * bsize} are free`)
}

/** Makes all folders of the backup. Returns the paths of `root` and these folders, each folder before its parent. */
async function makeFolders(root: string, { files, emptyFolders }: Manifest): Promise<readonly string[]> {
  const folders = new Set([...emptyFolders, ...[...files.keys()].map((path) => dirname(path))])
  for (const folder of folders) await makeFolder(join(root, folder), privateFolder)
  const all = new Set([...folders].flatMap((folder) => {
    const parts = folder.split('/')
    return parts.map((_, index) => join(root, ...parts.slice(0, index + 1)))
  }))
  for (const folder of all) await chmod(folder, ownFolder.mode ?? 0o700)
  return [...all].sort((one, other) => other.length - one.length)
}

/** Returns the digests of the pieces that can be moved: each is the only piece of its file and in no other file. */
function usedOnce({ files }: Manifest): ReadonlySet<string> {
  const [once, more] = [new Set<string>(), new Set<string>()]
  for (const { pieces } of files.values()) {
    for (const { sha256 } of pieces) (once.has(sha256) || pieces.length > 1 ? more : once).add(sha256)
  }
  return new Set([...once].filter((sha256) => !more.has(sha256)))
}

async function restoreFile(
  { from, to, signal }: RestoreOptions, entry: FileEntry, movable: ReadonlySet<string>,
): Promise<void> {
  signal.throwIfAborted()
  const { path, pieces, isExecutable } = entry
  const place = join(to.path, path)
  if (await isRestored(place, entry)) return
  const [only] = pieces
  if (only !== undefined && movable.has(only.sha256)) {
    await checkPiece(from, only, path)
    await chmod(piecePath(from, only), isExecutable ? 0o700 : 0o600)
    return rename(piecePath(from, only), place)
  }
  const staged = to.stagedPath()
  const file = await openNew(staged)
  try {
    if (isExecutable) await file.chmod(0o700)
    for (const piece of pieces) {
      signal.throwIfAborted()
      await copyPiece(from, piece, { path, write: (bytes) => file.writeFile(bytes) })
    }
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(staged, place)
}

/** Returns whether an interrupted restore has left the file at `place`, with the right content. */
async function isRestored(place: string, { size, pieces }: FileEntry): Promise<boolean> {
  const found = await orMissing(lstat(place))
  if (found === undefined || !found.isFile() || found.size !== size) return false
  const file = await openForReading(place)
  try {
    let at = 0
    for (const piece of pieces) {
      const content = new PieceOf()
      for await (const bytes of bytesOf({ file, from: at, to: at + piece.size })) content.add(bytes)
      if (content.end().sha256 !== piece.sha256) return false
      at += piece.size
    }
    return true
  } finally {
    await file.close()
  }
}
