/**
 * Appends records to the audit trail, durably and in order.
 *
 * After a failed write, the next append cuts the file back to the last durable record. It then writes a record `lost`
 * with the number of lost records.
 */
import type { Log } from '../../base/log.ts'
import { makeFolder, ownFolder, storageError, syncFolder } from '../../base/own-files.ts'
import { hashAt, start, type Position } from '../../storage/chain.ts'
import { nodeFiles, type Files, type OpenFile } from '../../storage/files.ts'
import { GroupCommit } from '../../storage/group-commit.ts'
import { linesOf } from './reading.ts'
import { contentOf, fileLimitBytes, folderOf, numbersIn, pathOf } from './trail-files.ts'

export interface TrailLogOptions {
  readonly dataDir: string
  readonly log: Log
  readonly clock: () => number
  /** How files are opened and written. Default: on the real disk, see storage/files.ts. */
  readonly files?: Files
  /** The size at which a new file begins. Default 16 MiB. */
  readonly limitBytes?: number
}

export type TrailRecord = Readonly<Record<string, unknown>>

interface Segment {
  readonly number: number
  readonly file: OpenFile
  readonly commit: GroupCommit
}

export class TrailLog {
  readonly #options: TrailLogOptions
  #segment: Segment
  #lost = 0
  /** Resolves when the last record is queued, or could not be queued. The next record waits for this. */
  #last: Promise<unknown> = Promise.resolve()

  private constructor(options: TrailLogOptions, segment: Segment) {
    this.#options = options
    this.#segment = segment
  }

  /** Opens the trail, and cuts an incomplete last line off. @throws AppError `storage_full`, `storage_failed` */
  static async open(options: TrailLogOptions): Promise<TrailLog> {
    const { dataDir } = options
    try {
      await makeFolder(folderOf(dataDir), ownFolder)
      const numbers = await numbersIn(dataDir)
      const number = numbers.at(-1) ?? 1
      return new TrailLog(options, await openSegment(options, number, await endOf(dataDir, number, numbers)))
    } catch (thrown) {
      throw storageError('Cannot open the audit trail', thrown)
    }
  }

  /** Appends a record. Resolves when it is durable. @throws AppError `storage_full`, `storage_failed`, `unavailable` */
  append(record: TrailRecord): Promise<void> {
    const json = Buffer.from(JSON.stringify({ at: new Date(this.#options.clock()).toISOString(), ...record }))
    const queued = this.#last.then(() => this.#queue(json))
    this.#last = queued.catch(() => undefined) // The caller gets the error of its own record.
    return queued.then((durable) => durable.done).catch((thrown: unknown) => {
      this.#fail(thrown)
      throw thrown
    })
  }

  /** Waits for the appended records, then closes the file. Idempotent. */
  async close(): Promise<void> {
    await this.#last
    await this.#segment.commit.idle()
    await this.#segment.file.close().catch(() => undefined) // No record is lost: each was synced before.
  }

  /**
   * Queues a line. Resolves when the line is queued. `done` of the result resolves when the line is durable. The result
   * is an object, because `await` would otherwise wait for `done` too.
   */
  async #queue(json: Buffer): Promise<{ readonly done: Promise<void> }> {
    if (this.#segment.commit.failure !== undefined) await this.#segment.commit.reopen()
    if (this.#segment.commit.end.offset >= (this.#options.limitBytes ?? fileLimitBytes)) await this.#rotate()
    const { commit } = this.#segment
    if (this.#lost > 0) {
      const [lost, at] = [this.#lost, new Date(this.#options.clock()).toISOString()]
      commit.append(Buffer.from(JSON.stringify({ at, kind: 'lost', records: lost })), undefined)
      this.#lost = 0
      // If the write fails, this record `lost` is lost too. Its count then goes into the next record `lost`.
      commit.durable().catch(() => (this.#lost += lost))
    }
    commit.append(json, undefined)
    return { done: commit.durable() }
  }

  async #rotate(): Promise<void> {
    const { number, file, commit } = this.#segment
    await commit.durable()
    this.#segment = await openSegment(this.#options, number + 1, { offset: 0, hash: commit.end.hash })
    await file.close()
  }

  #fail(thrown: unknown): void {
    this.#lost++
    if (this.#lost > 1) return
    const error = storageError('Cannot write a record', thrown)
    this.#options.log.error('The audit trail cannot be written', { error })
  }
}

async function openSegment(
  { dataDir, files = nodeFiles }: TrailLogOptions, number: number, end: Position,
): Promise<Segment> {
  const file = await files.open(pathOf(dataDir, number), { writeThrough: true })
  if (await file.size() > end.offset) await file.truncate(end.offset)
  await syncFolder(folderOf(dataDir))
  const limits = { groupLimitBytes: 1024 * 1024, queueLimitBytes: 8 * 1024 * 1024 }
  return { number, file, commit: new GroupCommit({ file, end, ...limits, onCommit: () => undefined }) }
}

/**
 * Returns where the chain of hashes goes on: the offset after the last complete line of a file, and the last hash. A
 * crash can leave a file without a line. Then the hash is the last of the file before, or `start` if there is none.
 */
async function endOf(dataDir: string, number: number, numbers: readonly number[]): Promise<Position> {
  if (!numbers.includes(number)) return start
  let position = start
  for (const line of linesOf(await contentOf(dataDir, number))) {
    position = { offset: position.offset + line.length + 1, hash: hashAt(line, 0) ?? position.hash }
  }
  return position === start ? { ...await endOf(dataDir, number - 1, numbers), offset: 0 } : position
}
