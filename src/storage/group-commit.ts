/**
 * Appends lines to a log, several with one sync (group commit).
 *
 * One group of lines is written and synced at a time. Lines that arrive meanwhile form the next groups. After a failed
 * write all queued lines are dropped. `append` and `durable` then fail until `reopen` has cut the file back to the last
 * durable line.
 */
import { AppError } from '../base/errors.ts'
import { storageError } from '../base/own-files.ts'
import { deferred, type Deferred } from '../base/wait.ts'
import { formatLine, type Position } from './chain.ts'
import type { OpenFile } from './files.ts'
import type { EventLabel } from './record.ts'

export interface QueuedLine {
  readonly offset: number
  readonly json: Buffer
  /** The label of an event; undefined for a private record. */
  readonly label: EventLabel | undefined
}

export interface GroupCommitOptions {
  /** The log's file, opened with `writeThrough`: bytes are durable (on the disk) when `write` resolves. */
  readonly file: OpenFile
  readonly end: Position
  /** The most bytes of one write: a group of lines. A longer line forms a group of its own. */
  readonly groupLimitBytes: number
  /** `append` refuses while more bytes than this are queued. */
  readonly queueLimitBytes: number
  /** Called for each group, in order, after the group is durable and `GroupCommit.end` is updated. Must not throw. */
  readonly onCommit: (lines: readonly QueuedLine[]) => void
}

interface Group {
  readonly lines: QueuedLine[]
  readonly chunks: Buffer[]
  bytes: number
  /** The position after the group's last line. */
  end: Position
  readonly done: Deferred<void>
}

export class GroupCommit {
  readonly #options: GroupCommitOptions
  #writing: Group | undefined
  readonly #waiting: Group[] = []
  #durableEnd: Position
  #queuedEnd: Position
  #failure: AppError | undefined
  #running: Promise<void> | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
    this.#durableEnd = options.end
    this.#queuedEnd = options.end
  }

  /** The position after the last durable line. */
  get end(): Position {
    return this.#durableEnd
  }

  get queuedBytes(): number {
    return this.#queuedEnd.offset - this.#durableEnd.offset
  }

  get failure(): AppError | undefined {
    return this.#failure
  }

  /** Queues a line. @throws AppError: `failure` if it is set, `unavailable` above the limit of the queue. */
  append(json: Buffer, label: EventLabel | undefined): void {
    if (this.#failure !== undefined) throw this.#failure
    if (this.queuedBytes > this.#options.queueLimitBytes) {
      throw new AppError('unavailable', `Cannot append: ${this.queuedBytes} bytes wait to be written`)
    }
    const { offset, hash } = this.#queuedEnd
    const line = formatLine(hash, json)
    this.#queuedEnd = { offset: offset + line.bytes.length, hash: line.hash }
    const group = this.#groupFor(line.bytes.length)
    // `line.json` is a copy, so that the caller's buffer can be freed.
    group.lines.push({ offset, json: line.json, label })
    group.chunks.push(line.bytes)
    group.bytes += line.bytes.length
    group.end = this.#queuedEnd
    this.#running ??= this.#run()
  }

  /** Resolves when all appended lines are durable. Rejects with `failure` after a failed write, until `reopen`. */
  durable(): Promise<void> {
    const last = this.#waiting.at(-1) ?? this.#writing
    if (last !== undefined) return last.done.promise
    return this.#failure === undefined ? Promise.resolve() : Promise.reject(this.#failure)
  }

  /**
   * Makes appending possible again after a failure: cuts the file back to the last durable line.
   * @throws AppError when the file cannot be cut back. `reopen` may then be called again.
   */
  async reopen(): Promise<void> {
    await this.#running
    if (this.#failure === undefined) return
    try {
      await this.#options.file.truncate(this.#durableEnd.offset)
      await this.#options.file.sync()
    } catch (thrown) {
      throw storageError('Cannot reopen the log', thrown)
    }
    this.#queuedEnd = this.#durableEnd
    this.#failure = undefined
  }

  /** Resolves when every queued line is written, or dropped after a failed write. */
  async idle(): Promise<void> {
    await this.#running
  }

  #groupFor(bytes: number): Group {
    const last = this.#waiting.at(-1)
    if (last !== undefined && last.bytes + bytes <= this.#options.groupLimitBytes) return last
    const group: Group = { lines: [], chunks: [], bytes: 0, end: this.#queuedEnd, done: deferred() }
    // Prevents an unhandled rejection when no caller waits for the group.
    group.done.promise.catch(() => undefined)
    this.#waiting.push(group)
    return group
  }

  async #run(): Promise<void> {
    // Waits for a microtask, so that lines which the caller appends next join the group.
    await undefined
    for (let group = this.#waiting.shift(); group !== undefined; group = this.#waiting.shift()) {
      this.#writing = group
      try {
        await this.#write(group)
      } catch (thrown) {
        this.#fail(storageError('Cannot write to the log', thrown), group)
        break
      }
      this.#writing = undefined
      this.#durableEnd = group.end
      this.#options.onCommit(group.lines)
      group.done.resolve()
    }
    this.#running = undefined
  }

  #write(group: Group): Promise<void> {
    const [first] = group.chunks
    const bytes = first !== undefined && group.chunks.length === 1 ? first : Buffer.concat(group.chunks, group.bytes)
    return this.#options.file.write(bytes, this.#durableEnd.offset)
  }

  #fail(failure: AppError, group: Group): void {
    this.#failure = failure
    this.#writing = undefined
    for (const lost of [group, ...this.#waiting.splice(0)]) lost.done.reject(failure)
  }
}
