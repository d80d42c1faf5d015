/**
 * A backup in a folder:
 *
 *     manifest.jsonl     the files of the backup, with the pieces of each
 *     files/<SHA-256>    the pieces
 *     partial/           pieces that are being written
 *     lock               excludes another backup
 *
 * Old pieces are removed after the new manifest is in place. So an interrupted backup leaves the earlier backup whole.
 * A piece can be a hard link to a file that becomes longer later. Only the bytes up to the size in the manifest count.
 */
import { basename, dirname, join, resolve } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { formatMode, othersMay } from '../../base/file-mode.ts'
import {
  failsAsStorage, link, makeFolder, openNew, ownFolder, removeFile, removeTemporaryFiles, rename, storageError,
  syncFolder, writeFileAtomically,
} from '../../base/own-files.ts'
import { lstat, readdir, readText, realpath, stat } from '../../base/read-files.ts'
import { lockFolder } from '../../process/lock.ts'
import { orMissing } from './contents.ts'
import { damaged, manifestName, parseManifest, type Manifest, type Piece } from './manifest.ts'
import { bytesOf, PieceOf, type Source, type Target } from './target.ts'

const pieceName = /^[0-9a-f]{64}$/
const partialName = /^\d+$/
const ownNames = /^(?:files|partial|lock(?:\.heartbeat.*)?|owner\.json|lost\+found|\.manifest\.jsonl\.[^.]+\.tmp)$/
const manifestLimitBytes = 500 * 1024 * 1024

/**
 * Returns the manifest in a folder; undefined when the folder has none.
 * @throws AppError `storage_failed`, `format_unsupported`
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readText(join(folder, manifestName), manifestLimitBytes).catch((thrown: unknown) => {
    if (thrown instanceof RangeError) throw damaged('its manifest is too large')
    throw storageError('Cannot read the backup', thrown)
  })
  if (text === undefined) return undefined
  if (!text.endsWith('\n')) throw damaged('its manifest is cut off')
  return parseManifest(text.slice(0, -1).split('\n'))
}

export function piecePath(folder: string, { sha256 }: Piece): string {
  return join(folder, 'files', sha256)
}

/**
 * Runs `body` with the folder locked against other backups. Creates a missing folder.
 * @throws AppError `invalid_option` for a folder inside or around the data folder, `conflict` for a folder with other
 * content, `owned_by_another`, `storage_full`, `storage_failed`; the errors of `body`
 */
export async function withBackupFolder<T>(
  path: string, dataDir: string, body: (folder: BackupFolder) => Promise<T>,
): Promise<T> {
  const folder = resolve(path)
  try {
    await assertApart(folder, dataDir)
    await makeFolder(folder, ownFolder)
    await assertUsable(folder)
  } catch (thrown) {
    throw storageError(`Cannot use "${folder}" for the backup`, thrown)
  }
  const lock = await lockFolder(folder, { clock: Date.now, onLost: () => undefined }).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'owned_by_another') throw thrown
    throw new AppError('owned_by_another', `Cannot back up: another backup into "${folder}" is running`)
  })
  try {
    return await body(await BackupFolder.open(folder))
  } finally {
    await lock.release()
  }
}

/**
 * Runs `body` with the manifest of a backup folder, while a lock keeps backups out of the folder. A folder that cannot
 * be written gets no lock.
 * @throws AppError `not_found` for a folder without a backup, `owned_by_another`, `storage_failed`,
 * `format_unsupported`; the errors of `body`
 */
export async function withStoredBackup<T>(path: string, body: (manifest: Manifest) => Promise<T>): Promise<T> {
  const folder = resolve(path)
  if (await readManifest(folder) === undefined) {
    const names = await failsAsStorage(`Cannot read the backup in "${folder}"`, () => readdir(folder))
    if (names.includes('files')) throw damaged(`the backup in "${folder}" was interrupted; run it again or use another`)
    throw new AppError('not_found', `There is no backup in "${folder}"`)
  }
  const lock = await lockFolder(folder, { clock: Date.now, onLost: () => undefined }).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError)) throw thrown
    if (thrown.code === 'storage_failed') return undefined
    throw new AppError(thrown.code, `Cannot restore: a backup into "${folder}" is running`, { cause: thrown })
  })
  try {
    const manifest = await readManifest(folder)
    if (manifest === undefined) throw damaged(`the manifest in "${folder}" is gone`)
    return await body(manifest)
  } finally {
    await lock?.release()
  }
}

/** Refuses a backup folder that is the data folder, is inside it or contains it. */
async function assertApart(folder: string, dataDir: string): Promise<void> {
  const [target, data] = [await realPathOf(folder), await realPathOf(resolve(dataDir))]
  if (!`${target}/`.startsWith(`${data}/`) && !`${data}/`.startsWith(`${target}/`)) return
  const expected = 'expected a folder outside of the data folder that does not contain it'
  throw new AppError('invalid_option', `Could not use "${folder}" for the backup: ${expected}`)
}

async function realPathOf(path: string): Promise<string> {
  const found = await orMissing(realpath(path))
  return found ?? join(await realPathOf(dirname(path)), basename(path))
}

async function assertUsable(folder: string): Promise<void> {
  const { mode } = await stat(folder)
  if (othersMay(mode) === 'write') {
    const why = `other users may write it (mode ${formatMode(mode)}); expected chmod 700, or a folder of its own`
    throw new AppError('storage_failed', `Cannot use "${folder}" for the backup: ${why}`)
  }
  const names = await readdir(folder)
  const foreign = names.find((name) => !ownNames.test(name))
  if (foreign === undefined || names.includes(manifestName)) return
  const expected = 'expected a new or empty folder, or a folder with a backup'
  const held = `it holds "${foreign.slice(0, 100)}"`
  throw new AppError('conflict', `Cannot use "${folder}" for the backup: ${held}; ${expected}`)
}

export class BackupFolder implements Target {
  readonly path: string
  readonly written = { copiedBytes: 0, linkedBytes: 0 }
  /** False once hard links have proved impossible, for example because the data folder is on another file system. */
  #mayLink = true
  #count = 0

  /** Opens the folder, and removes unfinished files of a killed backup. The caller holds the lock. */
  static async open(path: string): Promise<BackupFolder> {
    const folder = new BackupFolder(path)
    return folder.#failsAsStorage(async () => {
      await removeTemporaryFiles(path)
      for (const name of ['files', 'partial']) await makeFolder(join(path, name), ownFolder)
      for (const name of await readdir(join(path, 'partial'))) {
        if (partialName.test(name)) await removeFile(join(path, 'partial', name))
      }
      return folder
    })
  }

  private constructor(path: string) {
    this.path = path
  }

  async has(piece: Piece): Promise<boolean> {
    const found = await orMissing(lstat(piecePath(this.path, piece)))
    return found !== undefined && found.isFile() && found.size >= piece.size
  }

  add(source: Source): Promise<Piece | undefined> {
    return this.#failsAsStorage(async () => {
      if (source.linkFrom === undefined || !this.#mayLink) return this.#copy(source, bytesOf(source))
      return await this.#link(source, source.linkFrom) ?? await this.#copy(source, bytesOf(source))
    })
  }

  async addBytes(bytes: Buffer): Promise<Piece> {
    const piece = await this.#failsAsStorage(() => this.#copy({ from: 0, to: bytes.length }, [bytes]))
    if (piece === undefined) throw new RangeError('A text cannot become shorter')
    return piece
  }

  /** Writes the manifest, then removes the pieces that it does not name. */
  finish(lines: readonly string[]): Promise<void> {
    return this.#failsAsStorage(async () => {
      await syncFolder(join(this.path, 'files'))
      const text = `${lines.join('\n')}\n`
      await writeFileAtomically(join(this.path, manifestName), text)
      const { files } = parseManifest(lines)
      const needed = new Set([...files.values()].flatMap(({ pieces }) => pieces.map(({ sha256 }) => sha256)))
      for (const name of await readdir(join(this.path, 'files'))) {
        if (pieceName.test(name) && !needed.has(name)) await removeFile(join(this.path, 'files', name))
      }
    })
  }

  async #copy(
    { from, to }: Pick<Source, 'from' | 'to'>, bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): Promise<Piece | undefined> {
    const partial = join(this.path, 'partial', String(++this.#count))
    const content = new PieceOf()
    const file = await openNew(partial)
    try {
      for await (const part of bytes) {
        content.add(part)
        await file.writeFile(part)
      }
      const piece = content.end()
      const isWhole = piece.size === to - from
      const isNew = isWhole && !await this.has(piece)
      if (isNew) await file.sync()
      await file.close()
      if (isNew) await rename(partial, piecePath(this.path, piece))
      else await removeFile(partial)
      if (isNew) this.written.copiedBytes += piece.size
      return isWhole ? piece : undefined
    } catch (thrown) {
      await file.close().catch(() => undefined) // The caller gets `thrown`.
      await removeFile(partial).catch(() => undefined) // The caller gets `thrown`.
      throw thrown
    }
  }

  /** Stores `source` as a hard link to the file `path`, unless it is stored already. Undefined if linking fails. */
  async #link(source: Source, path: string): Promise<Piece | undefined> {
    const content = new PieceOf()
    for await (const bytes of bytesOf(source)) content.add(bytes)
    const piece = content.end()
    if (piece.size !== source.to - source.from) return undefined
    if (await this.has(piece)) return piece
    try {
      await source.file.sync()
      await link(path, piecePath(this.path, piece))
    } catch (thrown) {
      if (['EXDEV', 'EPERM', 'ENOTSUP'].includes(systemCodeOf(thrown) ?? '')) this.#mayLink = false
      return undefined // The file is copied instead.
    }
    const [linked, own] = [await lstat(piecePath(this.path, piece)), await source.file.stat()]
    if (linked.ino !== own.ino || linked.dev !== own.dev) {
      await removeFile(piecePath(this.path, piece))
      return undefined
    }
    this.written.linkedBytes += piece.size
    return piece
  }

  #failsAsStorage<T>(work: () => Promise<T>): Promise<T> {
    return failsAsStorage(`Cannot write the backup into "${this.path}"`, work)
  }
}
