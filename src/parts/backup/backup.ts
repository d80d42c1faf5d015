/**
 * Backs up a data folder while a server may be using it. Does not change the data folder.
 *
 * Reads in this order: `TopEntries.others`; settings and keys, all as of one moment; the end of each log; the logs up
 * to these ends, and the files beside them. When keys change meanwhile, all steps but the first are repeated.
 *
 * The pieces that the earlier backup has of a log are used again, and only new lines are added (see `pieceLimit`). A
 * file whose stamp (inode, size, time) has not changed since the earlier backup is not read.
 */
import { join } from 'node:path'
import type { FileHandle } from 'node:fs/promises'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { objectOf } from '../../base/fields.ts'
import { storageError } from '../../base/own-files.ts'
import { openForReading } from '../../base/read-files.ts'
import { Limiter } from '../../base/limiter.ts'
import { parseOwnJson } from '../../base/json.ts'
import {
  filesAt, filesOfConversation, keyFolders, logsIn, mayBeLinked, orMissing, topEntries, type Found, type FoundFile,
} from './contents.ts'
import { cutOf, hasCut, type Cut } from './log-cut.ts'
import { formatManifest, type FileEntry, type Manifest, type Piece } from './manifest.ts'
import { readMoment, stampOf } from './moment.ts'
import type { Target } from './target.ts'

export interface BackupOptions {
  readonly dataDir: string
  readonly target: Target
  /** The earlier backup in the target, if there is one and its manifest is not damaged. */
  readonly previous: Manifest | undefined
  readonly withKeys: boolean
  readonly clock: () => number
  readonly signal: AbortSignal
}

export interface BackupReport {
  readonly made: string
  readonly conversations: number
  readonly files: number
  readonly bytes: number
  readonly copiedBytes: number
  readonly linkedBytes: number
  /** The number of conversations that the backup lacks because they were deleted after it had opened their logs. */
  readonly deleted: number
  /** Paths of links and special files, which are not in the backup. */
  readonly left: readonly string[]
  /** Ids of the keys with which values in the backup may be encrypted. */
  readonly seals: readonly string[]
  readonly sha256: string
}

/** The most tries of a step whose files change meanwhile. `readMoment` has a limit of its own. */
const tryLimit = 5
/** A log that has this many pieces or more in the earlier backup is stored as a whole again. */
const pieceLimit = 32
/** The most bytes of one piece. */
const pieceLimitBytes = 1024 * 1024 * 1024
/** A file changed less than this many ms before the backup gets no stamp: its next change may keep size and time. */
const freshMs = 2000

/** Backs up the data folder. @throws AppError `unavailable`, `storage_full`, `storage_failed`; the signal's reason */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  return new Backup(options).run()
}

class Backup {
  readonly #options: BackupOptions
  readonly #began: number
  #files = new Map<string, FileEntry>()
  #emptyFolders = new Set<string>()
  #left = new Set<string>()

  constructor(options: BackupOptions) {
    this.#options = options
    this.#began = options.clock()
  }

  async run(): Promise<BackupReport> {
    const { dataDir, withKeys, target } = this.#options
    const { others } = await topEntries(dataDir, { withKeys })
    for (const path of others) await this.#addAll(filesAt(dataDir, path))
    const before = [this.#files, this.#emptyFolders, this.#left] as const
    for (let tries = 1; ; tries++) {
      this.#files = new Map(before[0])
      this.#emptyFolders = new Set(before[1])
      this.#left = new Set(before[2])
      const keys = await stampOf(dataDir, [...keyFolders, 'seals.json'])
      const seals = await this.#addSettings()
      const counts = await this.#addLogs()
      if (keys !== await stampOf(dataDir, [...keyFolders, 'seals.json'])) {
        if (tries < tryLimit) continue
        throw new AppError('unavailable', 'Cannot back up: the keys were changed all the time; try again')
      }
      const made = new Date(this.#began).toISOString()
      const emptyFolders = [...this.#emptyFolders]
      const { lines, sha256 } = formatManifest({
        header: { made, hasKeys: withKeys, seals }, files: this.#files, emptyFolders,
      })
      await target.finish(lines)
      const bytes = [...this.#files.values()].reduce((sum, { size }) => sum + size, 0)
      return {
        made, ...counts, files: this.#files.size, bytes, ...target.written, left: [...this.#left], seals, sha256,
      }
    }
  }

  /** Adds the settings and keys, all as of one moment. Returns the ids of the sealing keys that `seals.json` names. */
  async #addSettings(): Promise<readonly string[]> {
    const { dataDir, signal, withKeys, target } = this.#options
    const list = async (): Promise<readonly string[]> => (await topEntries(dataDir, { withKeys })).settings
    const { contents, left } = await readMoment({ dataDir, list, signal })
    for (const path of left) this.#left.add(path)
    for (const [path, content] of contents) {
      const pieces = content.length === 0 ? [] : [await target.addBytes(content)]
      this.#put({ path, size: content.length, pieces })
    }
    return sealsIn(contents.get('seals.json'))
  }

  /** Finds the end of each log, then adds the logs up to these ends, and the files beside them. */
  async #addLogs(): Promise<{ readonly conversations: number; readonly deleted: number }> {
    const { dataDir, signal } = this.#options
    const cuts: (readonly [path: string, cut: Cut])[] = []
    for (const path of await logsIn(dataDir)) {
      signal.throwIfAborted()
      const cut = await this.#open(path, async (file) => cutOf(file, (await file.stat()).size))
      if (cut !== undefined) cuts.push([path, cut])
    }
    const limiter = new Limiter(8)
    const isStored = await Promise.all(cuts.map(([path, cut]) => limiter.run(() => this.#addLogAndFiles(path, cut))))
    const ofConversations = isStored.filter((_, index) => cuts[index]?.[0].startsWith('conversations/') === true)
    const conversations = ofConversations.filter(Boolean).length
    return { conversations, deleted: ofConversations.length - conversations }
  }

  /** Adds a log and the files beside it. Returns false when the log is gone, as when its conversation is deleted. */
  async #addLogAndFiles(path: string, cut: Cut): Promise<boolean> {
    const { dataDir } = this.#options
    const entry = await this.#open(path, (file) => this.#logEntry(path, file, cut))
    if (entry === undefined) return false
    const [kind, id] = path.split('/')
    if (kind !== 'conversations' || id === undefined) {
      this.#put(entry)
      return true
    }
    const found = await this.#entriesOf(filesOfConversation(dataDir, id))
    // A deletion of the conversation first moves its folder away. So if the log is still there, `found` has all files.
    const isThere = await this.#open(path, async () => true)
    if (isThere !== true) return false
    this.#put(entry)
    this.#take(found)
    return true
  }

  async #logEntry(path: string, file: FileHandle, first: Cut): Promise<NewEntry> {
    let cut: Cut | undefined = first
    for (let tries = 1; tries <= tryLimit && cut !== undefined; tries++) {
      this.#options.signal.throwIfAborted()
      const pieces = await this.#logPieces(path, file, cut)
      // If a repair has shortened the log meanwhile, another line may be at the cut. Then the log is read again.
      if (pieces !== undefined && await hasCut(file, cut)) return { path, size: cut.end, pieces, last: cut.last }
      cut = await cutOf(file, (await file.stat()).size)
    }
    throw new AppError('unavailable', `Cannot back up "${path}": it was cut back all the time; try again`)
  }

  async #logPieces(path: string, file: FileHandle, { end }: Cut): Promise<readonly Piece[] | undefined> {
    const before = this.#options.previous?.files.get(path)
    const { size = 0, pieces = [], last } = before ?? {}
    const isContinued = last !== undefined && size <= end && pieces.length < pieceLimit &&
      await hasCut(file, { end: size, last }) && await this.#hasAll(pieces)
    const added = await this.#addRange(file, isContinued ? size : 0, end)
    return added === undefined ? undefined : [...(isContinued ? pieces : []), ...added]
  }

  async #addAll(found: AsyncIterable<Found>): Promise<void> {
    this.#take(await this.#entriesOf(found))
  }

  #take({ entries, empty, left }: Entries): void {
    for (const entry of entries) this.#put(entry)
    for (const path of empty) this.#emptyFolders.add(path)
    for (const path of left) this.#left.add(path)
  }

  async #entriesOf(found: AsyncIterable<Found>): Promise<Entries> {
    const [entries, empty, left]: [NewEntry[], string[], string[]] = [[], [], []]
    for await (const one of found) {
      this.#options.signal.throwIfAborted()
      if (one.kind === 'file') {
        const entry = await this.#fileEntry(one)
        if (entry !== undefined) entries.push(entry)
      } else (one.kind === 'empty' ? empty : left).push(one.path)
    }
    return { entries, empty, left }
  }

  /** Returns the manifest entry of a file; undefined if it is gone or no regular file. Stores a new or changed file. */
  async #fileEntry({ path, stats }: FoundFile): Promise<NewEntry | undefined> {
    const isExecutable = (stats.mode & 0o100n) !== 0n
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeNs}`
    const before = this.#options.previous?.files.get(path)
    if (before?.stamp === stamp && await this.#hasAll(before.pieces)) return { ...before, isExecutable }
    return this.#open(path, async (file) => {
      for (let tries = 1; tries <= tryLimit; tries++) {
        const start = await file.stat({ bigint: true })
        if (!start.isFile()) return undefined
        const linkFrom = mayBeLinked(path) ? join(this.#options.dataDir, path) : undefined
        const pieces = await this.#addRange(file, 0, Number(start.size), linkFrom)
        const end = await file.stat({ bigint: true })
        const isSame = start.mtimeNs === end.mtimeNs && start.size === end.size
        // `pieces` is undefined if the file became shorter. The last try accepts other changes.
        if (pieces === undefined || (!isSame && tries < tryLimit)) continue
        const isOld = isSame && this.#began - Number(start.mtimeNs / 1_000_000n) > freshMs
        return { path, size: Number(start.size), pieces, isExecutable, ...(isOld ? { stamp: stampOfFile(start) } : {}) }
      }
      throw new AppError('unavailable', `Cannot back up "${path}": it became shorter all the time; try again`)
    })
  }

  /** Stores the bytes of a file from `from` to `to` in pieces; undefined when the file has become shorter than `to`. */
  async #addRange(
    file: FileHandle, from: number, to: number, linkFrom?: string,
  ): Promise<readonly Piece[] | undefined> {
    const { target } = this.#options
    const isWhole = from === 0 && to <= pieceLimitBytes && linkFrom !== undefined
    const pieces: Piece[] = []
    for (let at = from; at < to; at += pieceLimitBytes) {
      const source = { file, from: at, to: Math.min(to, at + pieceLimitBytes), ...(isWhole ? { linkFrom } : {}) }
      const piece = await target.add(source)
      if (piece === undefined) return undefined
      pieces.push(piece)
    }
    return pieces
  }

  async #hasAll(pieces: readonly Piece[]): Promise<boolean> {
    for (const piece of pieces) if (!await this.#options.target.has(piece)) return false
    return true
  }

  #put({ path, size, pieces, isExecutable = false, stamp, last }: NewEntry): void {
    this.#files.set(path, { path, size, pieces, isExecutable, stamp, last })
  }

  /** Returns the result of `body` for a file of the data folder; undefined for a missing file. A link is an error. */
  async #open<T>(path: string, body: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
    let file: FileHandle | undefined
    try {
      file = await orMissing(openForReading(join(this.#options.dataDir, path)))
      return file === undefined ? undefined : await body(file)
    } catch (thrown) {
      // `EPIPE` comes from standard output, not from this file.
      if (systemCodeOf(thrown) === 'EPIPE') throw thrown
      throw storageError(`Cannot back up "${path}"`, thrown)
    } finally {
      await file?.close()
    }
  }
}

type NewEntry = Pick<FileEntry, 'path' | 'size' | 'pieces'> & {
  readonly isExecutable?: boolean
  readonly stamp?: string | undefined
  readonly last?: FileEntry['last']
}

interface Entries {
  readonly entries: readonly NewEntry[]
  readonly empty: readonly string[]
  readonly left: readonly string[]
}

function stampOfFile({ ino, size, mtimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint }): string {
  return `${ino} ${size} ${mtimeNs}`
}

function sealsIn(content: Buffer | undefined): readonly string[] {
  try {
    const { keys } = objectOf(content === undefined ? undefined : parseOwnJson(content.toString()))
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
  } catch {
    return [] // A damaged file names no key.
  }
}
