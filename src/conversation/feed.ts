/**
 * Live reading of a conversation. A reader is a cursor in the log, not a queue (decisions 35).
 *
 * A reader that stands at the head gets each committed event as bytes that were encoded once for all readers of its
 * kind. When its sink is full it simply stops taking them; once the sink has drained it reads on from the log until it
 * stands at the head again. Replay, live and catching up are therefore one path, and a slow reader costs no memory here.
 * Push-only frames (deltas, full_state) go to readers at the head and are dropped for the others. Order is the log's:
 * nothing is lost, doubled or reordered. Knows no socket: `event-socket` and `event-stream` are thin sinks of it.
 */
import { AppError } from '../base/errors.ts'
import { Turns } from '../base/turns.ts'
import type { EventRange } from '../storage/log-reader.ts'

/**
 * Turns the JSON bytes of one event, or of a frame that is not stored, into what goes on the wire. The same function object
 * means the same encoding.
 */
export type Encode = (json: Buffer, isStored: boolean) => Buffer

export type FeedEnd = 'deleted' | 'closed' | 'failed'

export interface Sink {
  /** Takes one encoded event. False: not taken, and no more please until `Reader.drained` is called. */
  write(encoded: Buffer): boolean
  /** The same for stored events that are not encoded yet: all of them or none. Without it, they come one by one. */
  writeMany?(events: readonly Buffer[]): boolean
  /** Whether it would take nothing now, so that nothing need be read for it. */
  readonly isFull?: boolean
  /** No more will come. */
  end(reason: FeedEnd): void
}

/** What the feed needs of the log: only durable events are counted and read. */
export interface EventSource {
  readonly eventCount: number
  /** Events from number `from` on, fewer than `to - from` if they are many bytes; a damaged one is left out. */
  readRange(from: number, to: number, limitBytes: number): Promise<EventRange>
}

/** How much of the log a reader that catches up reads at a time. */
const readBytes = 256 * 1024

export interface Committed {
  readonly sequence: number
  readonly json: Buffer
}

export class Feed {
  readonly #place: ReaderPlace
  readonly #limit: number
  readonly #readers = new Set<Reader>()
  /** Number of the next event to be published: a group commit makes several durable before the first is published. */
  #head: number
  /** Why the feed was closed. */
  #ended: FeedEnd | undefined

  /** @param turns of those who read on from a log, shared by all feeds that may hold each other up */
  constructor(source: EventSource, readerLimit: number, turns = createReadingTurns()) {
    this.#place = { source, turns, left: (reader) => this.#readers.delete(reader) }
    this.#limit = readerLimit
    this.#head = source.eventCount
  }

  get readerCount(): number {
    return this.#readers.size
  }

  /**
   * Adds a reader whose next event is number `from`; one that comes after the end is told so at once.
   * @throws AppError `unavailable` when there are too many.
   */
  join(from: number, encode: Encode, sink: Sink): Reader {
    if (this.#readers.size >= this.#limit) throw new AppError('unavailable', 'Too many connections for this conversation')
    const reader = new Reader(this.#place, from, encode, sink)
    this.#readers.add(reader)
    if (this.#ended === undefined) reader.drained()
    else reader.end(this.#ended)
    return reader
  }

  /** Gives a newly committed event to everyone who stands just before it. */
  publish(event: Committed): void {
    this.#head = event.sequence + 1
    const encoded = new Map<Encode, Buffer>()
    for (const reader of this.#readers) {
      if (reader.wants(event.sequence)) reader.take(once(encoded, reader.encode, event.json, true))
    }
  }

  /** Sends a frame that is not in the log to everyone who stands at the head. */
  push(json: Buffer): void {
    const encoded = new Map<Encode, Buffer>()
    for (const reader of this.#readers) {
      if (reader.wants(this.#head)) reader.push(once(encoded, reader.encode, json, false))
    }
  }

  close(reason: FeedEnd): void {
    this.#ended = reason
    for (const reader of [...this.#readers]) reader.end(reason)
  }
}

/** What readers have of their feed. */
interface ReaderPlace {
  readonly source: EventSource
  readonly turns: Turns
  readonly left: (reader: Reader) => void
}

/** A few suffice to keep the disk and the sockets busy; a thousand readers that come back together then hold up nobody. */
const readersInTurn = 2

export function createReadingTurns(): Turns {
  return new Turns(readersInTurn)
}

export class Reader {
  readonly encode: Encode
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

  /** The event that it wants. One that is not taken is read again from the log later. */
  take(encoded: Buffer): void {
    if (this.#sink.write(encoded)) this.#next++
    else this.#state = 'full'
  }

  /** A frame that is not in the log: one that is not taken is lost. */
  push(encoded: Buffer): void {
    if (!this.#sink.write(encoded)) this.#state = 'full'
  }

  /** The sink has room again: go on, from the log if events have passed meanwhile. */
  drained(): void {
    if (this.#state === 'closed' || this.#state === 'reading') return
    this.#state = 'ready'
    if (this.#next < this.#place.source.eventCount) void this.#catchUp()
  }

  /** Leaves the feed. Idempotent; the sink hears nothing more. */
  close(): void {
    this.#state = 'closed'
    this.#place.left(this)
  }

  end(reason: FeedEnd): void {
    if (this.#closed()) return
    this.close()
    this.#sink.end(reason)
  }

  async #catchUp(): Promise<void> {
    this.#state = 'reading'
    const { source, turns } = this.#place
    try {
      while (this.#state === 'reading' && this.#next < source.eventCount) {
        if (this.#sink.isFull === true) this.#state = 'full'
        else await turns.run(async () => this.#takeRange(await source.readRange(this.#next, source.eventCount, readBytes)))
      }
      if (this.#state === 'reading') this.#state = 'ready'
    } catch {
      this.end('failed')
    }
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

  // A method, because the compiler would otherwise narrow #state across calls that change it.
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
