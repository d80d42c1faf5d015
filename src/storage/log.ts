/**
 * The log of one conversation: `events.jsonl` and its index, open for as long as the conversation is.
 *
 * Lines are events and private records (see storage/record), chained (storage/chain). What is appended is durable once
 * `durable()` resolves and is seen by nobody before: `eventCount`, the reads and `onCommit` know durable lines only.
 * Reading one event copies bytes, of memory or of the file, and parses nothing. Opening reads the index and the end
 * of the log, not its history. One owner per folder is assumed; nothing here locks it.
 */
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { storageError } from '../base/json-file.ts'
import { upperHalfOf } from '../base/stamp.ts'
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
  /** The number of the event; undefined for a private record. */
  readonly event: number | undefined
}

export interface LogOptions {
  /** The conversation's folder. */
  readonly directory: string
  /** All kinds of events; their places in this list are on disk, so it is only ever added to. */
  readonly kinds: readonly string[]
  readonly cache: LineCache
  /** Called once for each group of lines, in order, when they are durable and readable. Must not throw. */
  readonly onCommit: (lines: readonly CommittedLine[]) => void
  /** Called when a piece of the log is found damaged or was cut, once for each. Must not throw. */
  readonly onDamage: (damage: Damage) => void
  readonly files?: Files
  /** The longest line; 64 MiB unless told. */
  readonly lineLimitBytes?: number
  /** With more than this waiting to be written, `append` refuses; 64 MiB unless told. */
  readonly queueLimitBytes?: number
}

/** At most so much of a log is written and not yet synced, or one longer line. */
export const groupLimitBytes = 1024 * 1024
const defaultLimitBytes = 64 * 1024 * 1024
/** The index file is behind by less than this, so that opening reads no more after a crash. */
const indexLagEvents = 1024
const indexLagBytes = 1024 * 1024

/**
 * Opens the log in a folder, recovering from whatever ended its last use; makes an empty one if there is none.
 * @throws AppError `not_found` when there is no folder, `storage_full` or `storage_failed` when files cannot be used.
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
    // The index is a cache: without it, the next opening takes longer.
    await indexFile.adopt(index, recovered.indexed).catch(() => undefined)
    return new ConversationLog(options, { log, indexFile, index, recovered })
  } catch (thrown) {
    await Promise.all(opened.map((file) => file.close().catch(() => undefined)))
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
  /** Where the log stood when the index file was last written, or that was tried. */
  #indexTried: { readonly offset: number; readonly count: number }
  #closing: Promise<void> | undefined

  /** For `openLog`. */
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

  /** How many durable events there are; they have the numbers from 0 on. */
  get eventCount(): number {
    return this.#index.count
  }

  /** Behind the last durable line; its hash is the head that `verify` can be told to expect. */
  get head(): Position {
    return this.#commit.end
  }

  /** What is appended and not yet durable, for who should slow down its source. */
  get queuedBytes(): number {
    return this.#commit.queuedBytes
  }

  /** Why appending is refused, until `reopen`. */
  get failure(): AppError | undefined {
    return this.#commit.failure
  }

  /**
   * Queues one event in canonical form or one private record. The order of calls is the order in the log.
   * @throws AppError `storage_full` or `storage_failed` after a failure, `unavailable` when too much is waiting;
   * TypeError or RangeError when the line is neither, too long, or an event whose id is not after the last one.
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
      throw new RangeError(`Cannot append an event with the id "${label.upper}", expected one after "${this.#lastUpper}"`)
    }
    this.#commit.append(json, label)
    if (label !== undefined) this.#lastUpper = label.upper
  }

  /** Resolves when everything appended so far is on the disk; rejects with an AppError if some of it never will be. */
  durable(): Promise<void> {
    return this.#commit.durable()
  }

  /**
   * Makes appending possible again after a failure, by cutting the file back to the last durable line.
   * @throws AppError `storage_full` or `storage_failed`; then it may be tried again.
   */
  async reopen(): Promise<void> {
    await this.#commit.reopen()
    this.#lastUpper = this.#lastDurableUpper()
  }

  /**
   * The JSON of event `number`, at once if it is in memory; undefined if its line is damaged. The bytes are not to be
   * changed.
   * @throws RangeError when there is no such event, AppError `storage_failed` when the file cannot be read.
   */
  read(number: number): Buffer | Promise<Buffer | undefined> {
    return this.#tail.get(number) ?? this.#readOne(number)
  }

  /** Events from `from` up to `to`, as many as fit into `limitBytes`, but one at least; damaged ones are left out. */
  async readRange(from: number, to: number, limitBytes: number): Promise<EventRange> {
    const last = Math.min(to, this.eventCount)
    if (from >= last) return { events: [], next: from }
    return this.#fromMemory(from, last, limitBytes) ?? readEvents(this.#reader, { from, to: last, limitBytes })
  }

  /** The number of the event whose id has this upper half (16 hex digits), or -1. The lower half is in its bytes. */
  numberOf(upper: string): number {
    return this.#index.numberOf(upper)
  }

  /** The number of the first event made at this time or later; `eventCount` if there is none. */
  firstAtOrAfter(micros: number): number {
    return this.#index.firstFromId(upperHalfOf(micros))
  }

  /** Kind and source of event `number` (see storage/record). */
  markOf(number: number): number {
    return this.#index.markOf(number)
  }

  /** Where the line of event `number` begins. */
  offsetOf(number: number): number {
    return this.#index.offsetOf(number)
  }

  /** All sound lines from a position on, up to where the log ends when the reading begins. */
  lines(from: Position): AsyncGenerator<StoredLine> {
    return readLines(this.#reader, from)
  }

  /** True when a line of this log ends at this position with this hash. */
  holds(position: Position): Promise<boolean> {
    return holds(this.#reader, position)
  }

  /** Waits until what was appended is durable or has failed, completes the index file and closes the files. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#commit.idle()
    await this.#indexing
    await this.#indexFile.write(this.#index).catch(() => undefined)
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
    this.#options.onCommit(lines.map(({ json, label, offset }) => {
      if (label === undefined) return { json, event: undefined }
      const event = this.#index.count
      this.#index.push(label, offset)
      this.#tail.push(event, json)
      return { json, event }
    }))
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
    if (this.#reported.has(damage.offset) || this.#reported.size >= maxDamages) return
    // What was cut is gone, and another line will be in its place.
    if (damage.kind === 'damaged') this.#reported.add(damage.offset)
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
