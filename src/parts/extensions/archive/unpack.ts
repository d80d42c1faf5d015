/**
 * Writes the entries of an archive into a new folder. The caller removes the folder after a failure.
 *
 * Links are not written, so no path leads through a link. An entry `.git`, in upper or lower case, and everything below
 * it is not written either.
 */
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { makeNewFolder, openNew } from '../../../base/own-files.ts'
import { assertInside, Names } from './names.ts'
import type { Entry } from './entry.ts'

const syncLimit = 32

/**
 * Writes the entries into `folder` and syncs the files. Leaves out links, and `.git` with everything below it.
 * @throws AppError `bad_request`; the errors of `entries`; system errors of writing; the signal's reason
 */
export async function unpack(entries: AsyncIterable<Entry>, folder: string, signal: AbortSignal): Promise<void> {
  const written = new WrittenFiles()
  try {
    await writeAll(entries, folder, { written, signal })
  } finally {
    await written.settled()
  }
  written.throwFailure()
}

interface Writing {
  readonly written: WrittenFiles
  readonly signal: AbortSignal
}

async function writeAll(
  entries: AsyncIterable<Entry>, folder: string, { written, signal }: Writing,
): Promise<void> {
  const names = new Names()
  const made = new Set<string>()
  for await (const entry of entries) {
    signal.throwIfAborted()
    const parts = names.take(entry.name, entry.kind)
    if (entry.kind === 'link') assertInside(parts, entry.target)
    const isWanted = entry.kind !== 'link' && !parts.some((part) => part.toLowerCase() === '.git')
    if (!isWanted) for await (const _ of entry.content) signal.throwIfAborted()
    else if (entry.kind === 'folder') await makeFolders(folder, parts, made)
    else {
      await makeFolders(folder, parts.slice(0, -1), made)
      await written.add(await write(join(folder, ...parts), entry, signal))
    }
  }
}

async function makeFolders(folder: string, parts: readonly string[], made: Set<string>): Promise<void> {
  for (let depth = 1; depth <= parts.length; depth++) {
    const path = join(folder, ...parts.slice(0, depth))
    if (made.has(path)) continue
    await makeNewFolder(path)
    made.add(path)
  }
}

/** Writes an entry to a new file. Returns the file, still open and not yet synced. */
async function write(path: string, { content, isExecutable }: Entry, signal: AbortSignal): Promise<FileHandle> {
  const file = await openNew(path)
  try {
    if (isExecutable) await file.chmod(0o700)
    for await (const piece of content) {
      signal.throwIfAborted()
      await file.writeFile(piece)
    }
    return file
  } catch (thrown) {
    await file.close()
    throw thrown
  }
}

/** Syncs and closes files, at most `syncLimit` at a time. */
class WrittenFiles {
  readonly #syncing = new Set<Promise<void>>()
  #failure: unknown

  /** Begins to sync and close a file. Resolves when another file may be added. @throws the error of `throwFailure` */
  async add(file: FileHandle): Promise<void> {
    const done = file.sync().finally(() => file.close())
      .catch((thrown: unknown) => void (this.#failure ??= thrown))
      .finally(() => this.#syncing.delete(done))
    this.#syncing.add(done)
    if (this.#syncing.size >= syncLimit) await Promise.race(this.#syncing)
    this.throwFailure()
  }

  /** Resolves when all added files are closed. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#syncing)
  }

  /** Throws the first error of syncing or closing a file, if there was one. */
  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}
