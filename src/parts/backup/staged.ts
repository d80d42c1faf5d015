/** Reads a backup from a tar stream. Can store its pieces (the contents of files) in a folder, as `files/<SHA-256>`. */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { makeFolder, openNew, ownFolder, rename, storageError } from '../../base/own-files.ts'
import { untilAborted } from '../../base/wait.ts'
import { damaged, parseManifest, type Manifest } from './manifest.ts'
import { PieceOf } from './target.ts'
import { readTar, type TarEntry } from './tar.ts'

const manifestLimitBytes = 500 * 1024 * 1024

/** Receives the bytes of a piece (`take`), then its SHA-256 (`end`). `close` is called last, also after an error. */
interface Store {
  take(bytes: Buffer): Promise<void>
  end(sha256: string): Promise<void>
  close(): Promise<void>
}

export interface Staged {
  readonly manifest: Manifest
  /** The sizes in bytes of the pieces in the stream, by SHA-256. */
  readonly pieces: ReadonlyMap<string, number>
}

/**
 * Reads a tar stream to its end. Stores the pieces in `folder`, if there is a folder.
 * @throws AppError `storage_failed`, also for a stream that is cut off or has no manifest; `storage_full`;
 * `format_unsupported` (`parseManifest`); the signal's reason if it is an AppError, else `storage_failed`
 */
export async function stageTar(
  source: AsyncIterable<Uint8Array>, folder: string | undefined, signal: AbortSignal,
): Promise<Staged> {
  try {
    if (folder !== undefined) await makeFolder(join(folder, 'files'), ownFolder)
    return await stageEntries(readTar(abortable(source, signal)), folder)
  } catch (thrown) {
    throw storageError('Cannot restore', thrown)
  }
}

async function stageEntries(entries: AsyncIterable<TarEntry>, folder: string | undefined): Promise<Staged> {
  const pieces = new Map<string, number>()
  let manifest: Manifest | undefined
  for await (const entry of entries) {
    if (entry.kind === 'manifest') {
      if (manifest !== undefined) throw damaged('the archive has two manifests')
      manifest = await manifestIn(entry)
    } else {
      const store = folder === undefined ? nowhere : await openStore(folder)
      pieces.set(await pieceIn(entry, store), entry.size)
    }
  }
  if (manifest === undefined) throw damaged('the archive has no manifest: the backup was interrupted')
  return { manifest, pieces }
}

async function manifestIn({ size, content }: TarEntry): Promise<Manifest> {
  if (size > manifestLimitBytes) throw damaged('its manifest is too large')
  const parts: Buffer[] = []
  for await (const bytes of content) parts.push(bytes)
  const text = Buffer.concat(parts).toString()
  if (!text.endsWith('\n')) throw damaged('its manifest is cut off')
  return parseManifest(text.slice(0, -1).split('\n'))
}

async function pieceIn({ content }: TarEntry, store: Store): Promise<string> {
  const piece = new PieceOf()
  try {
    for await (const bytes of content) {
      piece.add(bytes)
      await store.take(bytes)
    }
    const { sha256 } = piece.end()
    await store.end(sha256)
    return sha256
  } finally {
    await store.close()
  }
}

async function openStore(folder: string): Promise<Store> {
  const partial = join(folder, 'piece')
  const file = await openNew(partial)
  return {
    take: (bytes) => file.writeFile(bytes),
    async end(sha256) {
      await file.sync()
      await rename(partial, join(folder, 'files', sha256))
    },
    close: () => file.close(),
  }
}

const nowhere: Store = { take: async () => undefined, end: async () => undefined, close: async () => undefined }

async function* abortable(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await untilAborted(iterator.next(), signal)
      if (next.done === true) return
      yield next.value
    }
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    throw new AppError('storage_failed', 'Cannot read the backup', { cause: thrown })
  } finally {
    // Not awaited: `return` does not resolve while the source waits for input.
    void iterator.return?.()?.catch(() => undefined)
  }
}
