/**
 * The live readers of a conversation, such as sockets. A reader is a position in the log, not a queue (decisions 35).
 *
 * An event goes at once to each reader that has all earlier events. A reader whose sink was full reads the missed
 * events from the log. Frames that are not stored go to readers that have all events.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import { silentLog, type Log } from '../../base/log.ts'
import { Limiter } from '../../base/limiter.ts'
import type { Event } from '../../schema/generated/events.ts'
import type { EventRange } from '../../storage/log-reader.ts'
import type { DeltaFrame } from './frames.ts'
import { OpenText, type TextPosition } from './open-text.ts'

/**
 * Encodes the JSON of an event or frame for the wire. Readers with the same function share the result of one call.
 */
export type Encode = (json: Buffer, isStored: boolean) => Buffer

export type FeedEnd = 'deleted' | 'closed' | 'failed'

export interface Sink {
  /**
   * Takes one encoded event or frame, or returns false and takes nothing. After false, `Reader.drained` must be called
   * when the sink has room.
   */
  write(encoded: Buffer): boolean
  /**
   * Takes the JSON of several stored events, or returns false and takes none. A sink without this method gets each
   * event through `write`.
   */
  writeMany?(events: readonly Buffer[]): boolean
  /** True when the sink would take nothing now. Nothing is read from the log for a full sink. */
  readonly isFull?: boolean
  /** Called when the feed ends the reader. `next` is the seq from which a new reader would continue. */
  end(reason: FeedEnd, next: number): void
}

/** The members of the log that a feed uses. Only durable events are counted and read. */
export interface FeedLog {
  readonly eventCount: number
  /**
   * Reads events from seq `from` to before seq `to`: at most `limitBytes`, but at least one event. Leaves out damaged
   * events.
   */
  readRange(from: number, to: number, limitBytes: number): Promise<EventRange>
}

/** The most bytes of the log that a lagging reader reads at a time. A longer event is read alone. */
const readBytes = 256 * 1024

export interface Committed {
  readonly sequence: number
  readonly json: Buffer
}

export class Feed {
  readonly #place: ReaderPlace
  readonly #text = new OpenText()
  readonly #limit: number
  readonly #readers = new Set<Reader>()
  /** Seq of the next event to publish: less than `source.eventCount` while durable events are not published yet. */
  #head: number
  /** The newest time of a published event or a `since` of `join`. A frame with missed text has no earlier time. */
  #time = ''
  /** The reason for the close; undefined while the feed is open. */
  #ended: FeedEnd | undefined

  /** @param limiter limits the number of concurrent log reads; shared by all feeds that compete for the disk */
  constructor(source: FeedLog, readerLimit: number, limiter = createReadLimiter(), diagnostics: Log = silentLog) {
    this.#place = {
      source,
      limiter,
      diagnostics,
      left: (reader) => this.#readers.delete(reader),
      caughtUp: (reader) => this.#completeText(reader),
    }
    this.#limit = readerLimit
    this.#head = source.eventCount
  }

  get readerCount(): number {
    return this.#readers.size
  }

  /** The number of readers that lack published events or whose sink is full. */
  get readersBehind(): number {
    let behind = 0
    for (const reader of this.#readers) if (reader.isBehind(this.#head)) behind++
    return behind
  }

  /**
   * Adds a reader, which gets the events from seq `from` on. It also gets the unfinished text that it missed, in frames
   * that are not older than `since`.
   * @throws AppError `unavailable` when the feed has `readerLimit` readers.
   */
  join(from: number, encode: Encode, sink: Sink, since = ''): Reader {
    const isFull = this.#readers.size >= this.#limit
    if (isFull) throw new AppError('unavailable', 'Too many connections for this conversation')
    const reader = new Reader(this.#place, from, encode, sink)
    this.#readers.add(reader)
    if (since > this.#time) this.#time = since
    if (this.#ended === undefined) reader.drained()
    else reader.end(this.#ended)
    return reader
  }

  /** Sends a newly committed event to each reader that is up to date. */
  publish(event: Committed): void {
    this.#head = event.sequence + 1
    const encoded = new Map<Encode, Buffer>()
    for (const reader of this.#readers) {
      if (reader.wants(event.sequence)) reader.take(once(encoded, reader.encode, event.json, true))
    }
  }

  /** Sends an unstored frame to each reader that is up to date. */
  push(json: Buffer): void {
    const encoded = new Map<Encode, Buffer>()
    for (const reader of this.#readers) {
      if (reader.wants(this.#head)) reader.push(once(encoded, reader.encode, json, false))
    }
  }

  /** Sends a piece of a text to each reader that is up to date. Earlier pieces that the reader lacks are sent first. */
  delta(frame: DeltaFrame): void {
    const encoded = new Map<Encode, Buffer>()
    for (const reader of this.#readers) {
      if (!this.#completeText(reader)) continue
      if (reader.push(once(encoded, reader.encode, frame.json, false))) this.#text.passNext(reader.position, frame)
    }
    this.#text.add(frame)
  }

  /** Drops the open (unfinished) texts that a published event completes; without an event, all open texts. */
  endText(event?: Event): void {
    this.#text.close(event)
    if (event !== undefined && event.timestamp > this.#time) this.#time = event.timestamp
  }

  /** Sends an up-to-date reader the unfinished text it lacks. Returns false if it lacks events or its sink is full. */
  #completeText(reader: Reader): boolean {
    if (!reader.wants(this.#head)) return false
    if (!this.#text.isAhead(reader.position)) return true
    return this.#text.missing(reader.position, this.#time).every(({ json, field }) => {
      if (!reader.push(reader.encode(json, false))) return false
      this.#text.pass(reader.position, field)
      return true
    })
  }

  close(reason: FeedEnd): void {
    this.#ended = reason
    for (const reader of [...this.#readers]) reader.end(reason)
  }
}

/** The data and functions of a feed that its readers use. */
interface ReaderPlace {
  readonly source: FeedLog
  readonly limiter: Limiter
  readonly diagnostics: Log
  readonly left: (reader: Reader) => void
  /** Called when the reader has all durable events. If all are published, sends it the unfinished text it lacks. */
  readonly caughtUp: (reader: Reader) => void
}

/** The most log reads that one limiter lets run at the same time. More reads would hold up other work. */
const readersAtOnce = 2

export function createReadLimiter(): Limiter {
  return new Limiter(readersAtOnce)
}

export class Reader {
  readonly encode: Encode
  /** The positions up to which this reader has got the texts that the agent is writing. */
  readonly position: TextPosition = { content: 0, reasoning_content: 0 }
  readonly #place: ReaderPlace
  readonly #sink: Sink
  #next: number
  #state: 'ready' | 'full' | 'reading' | 'closed' = 'ready'

  constructor(place: ReaderPlace, from: number, encode: Encode, sink: Sink) {
    this.#place = place
    this.#next = from
    this.encode = encode
    this.#sink = sink
  }

  wants(sequence: number): boolean {
    return this.#state === 'ready' && this.#next === sequence
  }

  isBehind(head: number): boolean {
    return this.#state !== 'ready' || this.#next < head
  }

  /** Offers the sink the reader's next event. An event that the sink refuses is read from the log after `drained`. */
  take(encoded: Buffer): void {
    if (this.#sink.write(encoded)) this.#next++
    else this.#state = 'full'
  }

  /** Offers an unstored frame. Returns false when the sink does not take it. */
  push(encoded: Buffer): boolean {
    const isTaken = this.#sink.write(encoded)
    if (!isTaken && this.#state === 'ready') this.#state = 'full'
    return isTaken
  }

  /** Called by `join`, and when the sink has room again. Sends missed events from the log, then unfinished text. */
  drained(): void {
    if (this.#state === 'closed' || this.#state === 'reading') return
    this.#state = 'ready'
    if (this.#next < this.#place.source.eventCount) void this.#catchUp()
    else this.#place.caughtUp(this)
  }

  /** Leaves the feed: the sink gets no further event or frame. Idempotent. */
  close(): void {
    this.#state = 'closed'
    this.#place.left(this)
  }

  end(reason: FeedEnd): void {
    if (this.#closed()) return
    this.close()
    this.#sink.end(reason, this.#next)
  }

  async #catchUp(): Promise<void> {
    this.#state = 'reading'
    const { source, limiter } = this.#place
    try {
      while (this.#state === 'reading' && this.#next < source.eventCount) {
        if (this.#sink.isFull === true) this.#state = 'full'
        else await limiter.run(() => this.#readOn())
      }
      if (this.#state !== 'reading') return
      this.#state = 'ready'
      this.#place.caughtUp(this)
    } catch (thrown) {
      const error = errorOf(thrown)
      if (!this.#closed()) this.#place.diagnostics.error('A reader ends: the history cannot be read', { error })
      this.end('failed')
    }
  }

  async #readOn(): Promise<void> {
    const { source } = this.#place
    this.#takeRange(await source.readRange(this.#next, source.eventCount, readBytes))
  }

  #takeRange({ events, next }: EventRange): void {
    if (this.#state !== 'reading') return
    if (this.#sink.writeMany === undefined) this.#takeEach(events)
    else if (!this.#sink.writeMany(events.map(({ json }) => json))) this.#state = 'full'
    if (this.#state === 'reading') this.#next = next
  }

  #takeEach(events: EventRange['events']): void {
    for (const { number, json } of events) {
      if (this.#state !== 'reading') return
      this.#next = number
      this.take(this.encode(json, true))
    }
  }

  // A method, so that the compiler does not assume that #state still has the value assigned before.
  #closed(): boolean {
    return this.#state === 'closed'
  }
}

function once(encoded: Map<Encode, Buffer>, encode: Encode, json: Buffer, isStored: boolean): Buffer {
  const known = encoded.get(encode)
  if (known !== undefined) return known
  const made = encode(json, isStored)
  encoded.set(encode, made)
  return made
}
