/**
 * The log of one conversation, `events.jsonl`, with its index, while the conversation is open.
 *
 * A line is an event or a private record (storage/record), and its hash depends on the line before (storage/chain). An
 * appended line is durable when `durable()` resolves. The caller makes sure that no log is open twice at a time.
 */
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { storageError } from '../base/own-files.ts'
import { upperHalfOf, type UpperWords } from '../base/stamp.ts'
import type { Position } from './chain.ts'
import { CheckedRanges } from './checked-ranges.ts'
import type { EventIndex } from './event-index.ts'
import { nodeFiles, type Files, type OpenFile } from './files.ts'
import { GroupCommit, type QueuedLine } from './group-commit.ts'
import { IndexFile } from './index-file.ts'
import type { CachedTail, LineCache } from './line-cache.ts'
import { holds, readEvents, readLines, type EventRange, type LogReaderOptions, type StoredLine } from './log-reader.ts'
import { isEvent, isPrivateRecord, labelOf } from './record.ts'
import { maxDamages, recover, type Damage, type Recovered } from './recovery.ts'

export interface CommittedLine {
  readonly json: Buffer
  /** Seq of the event, its number in the log from 0 on; undefined for a private record. */
  readonly event: number | undefined
}

/** Called for each group of lines, in order, when the group is durable. Must not throw. */
export type CommitListener = (lines: readonly CommittedLine[]) => void

export interface LogOptions {
  readonly directory: string
  /** All kinds of events. A new kind must be added at the end, because the index stores positions in this list. */
  readonly kinds: readonly string[]
  readonly cache: LineCache
  /** Called once for each cut-off piece and for each of the first `maxDamages` damaged pieces. Must not throw. */
  readonly onDamage: (damage: Damage) => void
  readonly files?: Files
  /** The longest JSON of a line. Default: 64 MiB. */
  readonly lineLimitBytes?: number
  /** While more appended bytes than this are not yet on the disk, `append` throws. Default: 64 MiB. */
  readonly queueLimitBytes?: number
}

/** The most bytes that one write appends and makes durable. A longer line is written alone. */
export const groupLimitBytes = 1024 * 1024
const defaultLimitBytes = 64 * 1024 * 1024
/** The index file is written when the log has grown by this many events or bytes since the last attempt. */
const indexLagEvents = 1024
const indexLagBytes = 1024 * 1024

/**
 * Opens the log in a folder and repairs it after a crash. Creates an empty log if there is none.
 * @throws AppError `not_found` without the folder, `storage_full`, `storage_failed`; any AppError of `files`
 */
export async function openLog(options: LogOptions): Promise<ConversationLog> {
  const { directory, kinds, files = nodeFiles, lineLimitBytes = defaultLimitBytes } = options
  const opened: OpenFile[] = []
  const open = async (name: string, writeThrough: boolean): Promise<OpenFile> => {
    const file = await files.open(join(directory, name), { writeThrough })
    opened.push(file)
    return file
  }
  try {
    const log = await open('events.jsonl', true)
    const indexFile = new IndexFile(await open('events.index', false))
    const index = await indexFile.read()
    const recovered = await recover({ directory, files, log, index, kinds, lineLimitBytes, groupLimitBytes })
    // A failed write is ignored, because the index file is a cache.
    await indexFile.adopt(index, recovered.indexed).catch(() => undefined)
    return new ConversationLog(options, { log, indexFile, index, recovered })
  } catch (thrown) {
    await Promise.all(opened.map((file) => file.close().catch(() => undefined))) // The first error is thrown.
    if (systemCodeOf(thrown) !== 'ENOENT') throw storageError('Cannot open the log', thrown)
    throw new AppError('not_found', 'Cannot open the log: there is no folder', { cause: thrown })
  }
}

interface LogParts {
  readonly log: OpenFile
  readonly indexFile: IndexFile
  readonly index: EventIndex
  readonly recovered: Recovered
}

export class ConversationLog {
  readonly #options: LogOptions
  readonly #file: OpenFile
  readonly #index: EventIndex
  readonly #indexFile: IndexFile
  readonly #tail: CachedTail
  readonly #commit: GroupCommit
  readonly #reader: LogReaderOptions
  readonly #reported = new Set<number>()
  readonly #lineLimitBytes: number
  #lastUpper: string
  #indexing: Promise<void> | undefined
  #listener: CommitListener | undefined
  /** The size of the log, in bytes and in events, at the last attempt to write the index file. */
  #indexTried: { readonly offset: number; readonly count: number }
  #closing: Promise<void> | undefined

  /** Called by `openLog` only. */
  constructor(options: LogOptions, parts: LogParts) {
    const { queueLimitBytes = defaultLimitBytes, lineLimitBytes = defaultLimitBytes } = options
    const { log: file, index, recovered } = parts
    const { end } = recovered
    this.#options = options
    this.#file = file
    this.#index = index
    this.#indexFile = parts.indexFile
    this.#tail = options.cache.open()
    const onCommit = (lines: readonly QueuedLine[]): void => this.#publish(lines)
    this.#commit = new GroupCommit({ file, end, groupLimitBytes, queueLimitBytes, onCommit })
    this.#reader = {
      read: (length, position) => readStored(file, length, position),
      index,
      checked: new CheckedRanges(),
      end: () => this.#commit.end,
      lineLimitBytes,
      onDamage: (damage) => this.#report(damage),
    }
    this.#lineLimitBytes = lineLimitBytes
    this.#lastUpper = this.#lastDurableUpper()
    this.#indexTried = { offset: end.offset, count: index.count }
    for (const damage of recovered.damages) this.#report(damage)
  }

  /** Sets the one listener for lines that become durable. */
  listen(listener: CommitListener): void {
    if (this.#listener !== undefined) throw new TypeError('The log has a listener already')
    this.#listener = listener
  }

  /** Number of durable events. Their seqs begin at 0. */
  get eventCount(): number {
    return this.#index.count
  }

  /** The position after the last durable line. Its hash can be passed to `verifyConversation` as `expect`. */
  get head(): Position {
    return this.#commit.end
  }

  /** The number of appended bytes that are not durable yet. */
  get queuedBytes(): number {
    return this.#commit.queuedBytes
  }

  /** The AppError with which `append` refuses until `reopen`; undefined while the log has not failed. */
  get failure(): AppError | undefined {
    return this.#commit.failure
  }

  /**
   * Queues a line: one event in canonical form (storage/record) or one private record.
   * @throws `failure` if it is set; AppError `unavailable` above `queueLimitBytes`; TypeError for any other line, and
   * after `close`; RangeError for a line above `lineLimitBytes`, and for an id that is not above the last id
   */
  append(line: Buffer | string): void {
    if (this.#closing !== undefined) throw new TypeError('Cannot append to a log that is closed')
    const json = typeof line === 'string' ? Buffer.from(line) : line
    if (json.length > this.#lineLimitBytes) {
      throw new RangeError(`Cannot append ${json.length} bytes, expected at most ${this.#lineLimitBytes}`)
    }
    const label = isEvent(json) ? labelOf(json, this.#options.kinds) : undefined
    if (label === undefined && !isPrivateRecord(json)) {
      throw new TypeError(`Cannot append "${json.toString('latin1', 0, 80)}", expected an event or a private record`)
    }
    if (label !== undefined && label.upper <= this.#lastUpper && this.failure === undefined) {
      const expected = `expected an id after "${this.#lastUpper}"`
      throw new RangeError(`Cannot append an event with the id "${label.upper}", ${expected}`)
    }
    this.#commit.append(json, label)
    if (label !== undefined) this.#lastUpper = label.upper
  }

  /** Resolves when all appended lines are on the disk. Rejects with `failure` after a failed write, until `reopen`. */
  durable(): Promise<void> {
    return this.#commit.durable()
  }

  /**
   * Makes appending possible again after a failure: cuts the file back to the last durable line.
   * @throws AppError when the file cannot be cut back. `reopen` may then be called again.
   */
  async reopen(): Promise<void> {
    await this.#commit.reopen()
    this.#lastUpper = this.#lastDurableUpper()
  }

  /**
   * Returns the JSON of the event with this seq, synchronously if it is in memory; undefined for a damaged line. The
   * caller must not change the bytes.
   * @throws RangeError without such an event, AppError `storage_failed`
   */
  read(number: number): Buffer | Promise<Buffer | undefined> {
    return this.#tail.get(number) ?? this.#readOne(number)
  }

  /** Reads events of seq `from` to before `to`: as many as fit in `limitBytes`, at least one. Omits damaged events. */
  async readRange(from: number, to: number, limitBytes: number): Promise<EventRange> {
    const last = Math.min(to, this.eventCount)
    if (from >= last) return { events: [], next: from }
    return this.#fromMemory(from, last, limitBytes) ?? readEvents(this.#reader, { from, to: last, limitBytes })
  }

  /** Returns the seq of the event whose id has this upper half; -1 if there is none. */
  numberOf(upper: UpperWords): number {
    return this.#index.numberOf(upper)
  }

  /** Returns the seq of the first event recorded at this time or later; `eventCount` if there is none. */
  firstAtOrAfter(micros: number): number {
    return this.#index.firstFromId(upperHalfOf(micros))
  }

  /** Returns the mark of the event with this seq: its kind and source (see storage/record). */
  markOf(number: number): number {
    return this.#index.markOf(number)
  }

  offsetOf(number: number): number {
    return this.#index.offsetOf(number)
  }

  /** Reads the valid lines from a position on, up to the end that the log has at the first `next()`. */
  lines(from: Position): AsyncGenerator<StoredLine> {
    return readLines(this.#reader, from)
  }

  /** True if the line at `position.offset` continues the chain from `position.hash`, or the log ends at `position`. */
  holds(position: Position): Promise<boolean> {
    return holds(this.#reader, position)
  }

  /** Waits until the appended lines are durable or failed, completes the index file and closes the files. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#commit.idle()
    await this.#indexing
    await this.#indexFile.write(this.#index).catch(() => undefined) // Ignored: the index file is a cache.
    this.#tail.clear()
    await Promise.all([this.#file.close(), this.#indexFile.close()])
  }

  async #readOne(number: number): Promise<Buffer | undefined> {
    if (number < 0 || number >= this.eventCount) {
      throw new RangeError(`Cannot read event ${number}: there are ${this.eventCount}`)
    }
    const { events } = await readEvents(this.#reader, { from: number, to: number + 1, limitBytes: 0 })
    return events[0]?.json
  }

  #fromMemory(from: number, to: number, limitBytes: number): EventRange | undefined {
    const events = []
    let bytes = 0
    for (let number = from; number < to; number++) {
      const json = this.#tail.get(number)
      if (json === undefined) return undefined
      bytes += json.length
      if (bytes > limitBytes && number > from) break
      events.push({ number, json })
    }
    return { events, next: from + events.length }
  }

  #publish(lines: readonly QueuedLine[]): void {
    const committed = lines.map(({ json, label, offset }) => {
      if (label === undefined) return { json, event: undefined }
      const event = this.#index.count
      this.#index.push(label, offset)
      this.#tail.push(event, json)
      return { json, event }
    })
    this.#listener?.(committed)
    const { offset, count } = this.#indexTried
    if (this.head.offset - offset >= indexLagBytes || this.eventCount - count >= indexLagEvents) this.#writeIndex()
  }

  #writeIndex(): void {
    if (this.#indexing !== undefined) return
    this.#indexTried = { offset: this.head.offset, count: this.eventCount }
    const settle = (): void => {
      this.#indexing = undefined
    }
    this.#indexing = this.#indexFile.write(this.#index).then(settle, settle)
  }

  #lastDurableUpper(): string {
    return this.#index.count === 0 ? '' : this.#index.upperOf(this.#index.count - 1)
  }

  #report(damage: Damage): void {
    // A `cut` piece is not added: the next appended line gets its offset, and damage to that line must be reported too.
    if (damage.kind === 'damaged') {
      if (this.#reported.has(damage.offset) || this.#reported.size >= maxDamages) return
      this.#reported.add(damage.offset)
    }
    this.#options.onDamage(damage)
  }
}

async function readStored(file: OpenFile, length: number, position: number): Promise<Buffer> {
  try {
    return await file.read(length, position)
  } catch (thrown) {
    throw storageError('Cannot read the log', thrown)
  }
}
