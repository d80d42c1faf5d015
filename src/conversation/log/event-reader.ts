/**
 * Reads stored events: one event, a page, a search, a count (contract/conversations.md, section 5).
 *
 * Filters by time, kind and source use the index. A text search reads messages. Events of all branches are returned.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from '../../base/json.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import { upperWords } from '../../base/stamp.ts'
import { andThen } from '../../base/wait.ts'
import type { Position } from '../../storage/chain.ts'
import type { ConversationLog } from '../../storage/log.ts'
import type { EventRange, StoredLine } from '../../storage/log-reader.ts'
import { hasSource, kindPlaceOf } from '../../storage/record.ts'
import { eventKinds, type MessageEvent } from '../../schema/generated/events.ts'
import { foldLog } from './log-state.ts'
import type { ConversationState } from './state.ts'
import { storedEvent } from './stored-event.ts'

export interface EventFilter {
  /** The kind of the event, such as `MessageEvent`. A class path before it, as in `a.b.MessageEvent`, is ignored. */
  readonly kind?: string | undefined
  /** The source of the event. An unknown source matches no event. */
  readonly source?: string | undefined
  /** A text to find in a MessageEvent: in its text, reasoning or `extended_content`. Upper and lower case are equal. */
  readonly body?: string | undefined
  /** The earliest time of an event, in microseconds since the epoch, inclusive. */
  readonly from?: number | undefined
  /** The end of the time range, in microseconds since the epoch, exclusive. */
  readonly before?: number | undefined
}

export interface EventQuery extends EventFilter {
  readonly newestFirst: boolean
  readonly limit: number
  /** The page begins at this event or at the next match; without an id, or for an unknown id, at the first match. */
  readonly pageId?: string | undefined
}

export interface EventPage {
  readonly items: readonly Buffer[]
  readonly nextPageId: string | null
}

/** The most events that a page, or a count with `body`, examines in one turn of the event loop. */
const batch = 256
/** The most events that a count without `body` examines in one turn of the event loop. It reads only the index. */
const markBatch = 16_384

/**
 * Events are read together if the first and the last of them begin at most this many bytes apart. A text search looks
 * into the bytes of an event before it parses the event, if the event is not longer than this.
 */
const runLimitBytes = 256 * 1024

/** The most bytes of a page with more than one event. */
const pageLimitBytes = 32 * 1024 * 1024

/** Reads the events of one conversation. Nothing can be written through this object. */
export class EventReader {
  readonly #log: ConversationLog

  constructor(log: ConversationLog) {
    this.#log = log
  }

  /** The number of stored events. They are numbered from 0: the number of an event is its seq. */
  get eventCount(): number {
    return this.#log.eventCount
  }

  /** Returns the bytes of the event with this seq; undefined when they are damaged. See `ConversationLog.read`. */
  read(seq: number): Buffer | undefined | Promise<Buffer | undefined> {
    return this.#log.read(seq)
  }

  /** Reads all valid lines from a position on, private records included. See `ConversationLog.lines`. */
  lines(from: Position): AsyncGenerator<StoredLine> {
    return this.#log.lines(from)
  }

  /** Reads the bytes of events from seq `from` to before `to`, in order. See `ConversationLog.readRange`. */
  readRange(from: number, to: number, limitBytes: number): Promise<EventRange> {
    return this.#log.readRange(from, to, limitBytes)
  }

  /** Returns the number of bytes from the line of this event to the end of the log; 0 for an unknown seq. */
  bytesFrom(seq: number): number {
    return seq < this.#log.eventCount ? this.#log.head.offset - this.#log.offsetOf(seq) : 0
  }

  /** Returns the id of the event with this seq, if the event is in memory. */
  idInMemory(seq: number): string | undefined {
    const json = seq >= 0 && seq < this.#log.eventCount ? this.#log.read(seq) : undefined
    if (!(json instanceof Promise)) return json && idOf(json)
    json.catch(() => undefined) // This read is not used. A caller that reads the event gets the error itself.
    return undefined
  }

  /** Returns the bytes of an event; undefined if it is unknown or damaged. Returns no promise for bytes in memory. */
  find(id: string): Buffer | undefined | Promise<Buffer | undefined> {
    const seq = this.seqOf(id)
    if (seq === -1) return undefined
    return andThen(this.read(seq), (json) => (json !== undefined && hasId(json, id) ? json : undefined))
  }

  /** Returns the seq of the event whose id has the same first 8 bytes as `id`; -1 if unknown. */
  seqOf(id: string): number {
    const upper = upperWords(id)
    return upper === undefined ? -1 : this.#log.numberOf(upper)
  }

  /** Returns the seq of the first event at or after a time in microseconds, or else `eventCount`. */
  firstAtOrAfter(micros: number): number {
    return this.#log.firstAtOrAfter(micros)
  }

  /**
   * Returns a page of events that pass the filter: at most `limit` events, with at most `pageLimitBytes` together. A
   * page of one event may be longer. `nextPageId` is the id of the next event that passes, or null at the end.
   */
  async page(query: EventQuery): Promise<EventPage> {
    const range = rangeOf(this.#log, query)
    const first = query.pageId === undefined ? -1 : this.seqOf(query.pageId)
    const items: Buffer[] = []
    let bytes = 0
    const sequences = ordered(range, query.newestFirst, first)
    for await (const json of matches(this.#log, query, sequences, query.limit + 1)) {
      bytes += json.length
      const isFull = items.length === query.limit || (items.length > 0 && bytes > pageLimitBytes)
      if (isFull) return { items, nextPageId: idOf(json) }
      // `json` is a view of the buffer of one read. If the buffer is much larger, a copy lets the buffer be freed.
      items.push(json.buffer.byteLength > 8 * json.length ? Buffer.from(json) : json)
    }
    return { items, nextPageId: null }
  }

  async count(filter: EventFilter): Promise<number> {
    const range = rangeOf(this.#log, filter)
    if (filter.kind === undefined && filter.source === undefined && filter.body === undefined) {
      return Math.max(0, range.end - range.start)
    }
    const sequences = ordered(range, false, -1)
    let count = 0
    const marks = passing(this.#log, filter, sequences, markBatch, markBatch)
    if (filter.body === undefined) for await (const some of marks) count += some.length
    else for await (const _ of matches(this.#log, filter, sequences)) count++
    return count
  }

  /** True when the log has an event of this kind, on any branch. */
  hasKind(kind: string): boolean {
    for (let seq = 0; seq < this.#log.eventCount; seq++) {
      if (kindOfMark(this.#log.markOf(seq)) === kind) return true
    }
    return false
  }

  /** Computes the state line by line, and returns it as soon as `isThen` is true for it, or else the newest state. */
  stateWhen(isThen: (state: Readonly<ConversationState>) => boolean): Promise<ConversationState> {
    return foldLog(this.#log, { until: isThen })
  }

  /** Returns the messages with these ids, in the order of `ids`. An id without a readable message is left out. */
  async messages(ids: readonly string[]): Promise<MessageEvent[]> {
    const messages: MessageEvent[] = []
    for (const id of ids) {
      const json = await this.find(id)
      const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
      if (event?.kind === 'MessageEvent') messages.push(event)
    }
    return messages
  }

  /** Returns the text of the agent's newest FinishAction or message with text, on any branch; empty without either. */
  async finalResponse(): Promise<string> {
    for (let seq = this.#log.eventCount - 1; seq >= 0; seq--) {
      const mark = this.#log.markOf(seq)
      const kind = kindOfMark(mark)
      if (!hasSource(mark, 'agent') || (kind !== 'MessageEvent' && kind !== 'ActionEvent')) continue
      const json = await this.read(seq)
      if (json === undefined) continue
      const event = await parseOwnJsonBytes(json)
      const text = kind === 'MessageEvent' ? messageText(event) : finishText(event)
      if (text !== undefined) return text
    }
    return ''
  }
}

const idMember = '"id":"'
const quote = 0x22
/** The number of bytes at the beginning of an event's JSON that are searched for its id. */
const headBytes = 160

/** Returns the id in the first bytes of an event's JSON, or an empty text. */
export function idOf(json: Buffer): string {
  const head = json.toString('latin1', 0, headBytes)
  const begin = head.indexOf(idMember)
  const end = head.indexOf('"', begin + idMember.length)
  return begin === -1 || end === -1 ? '' : head.slice(begin + idMember.length, end)
}

interface Range {
  readonly start: number
  readonly end: number
}

function rangeOf(log: ConversationLog, filter: EventFilter): Range {
  const start = filter.from === undefined ? 0 : log.firstAtOrAfter(filter.from)
  const end = filter.before === undefined ? log.eventCount : log.firstAtOrAfter(filter.before)
  return { start, end }
}

function* ordered(range: Range, newestFirst: boolean, page: number): Generator<number> {
  if (newestFirst) {
    const first = page === -1 ? range.end - 1 : Math.min(page, range.end - 1)
    for (let seq = first; seq >= range.start; seq--) yield seq
  } else {
    for (let seq = Math.max(page, range.start); seq < range.end; seq++) yield seq
  }
}

/** Yields the bytes of the events in `sequences` that pass the filter. Damaged events are left out. */
async function* matches(
  log: ConversationLog, filter: EventFilter, sequences: Iterator<number>, first = batch,
): AsyncGenerator<Buffer> {
  const needle = filter.body?.toLowerCase()
  const isPlain = needle !== undefined && /^[\w .,:/-]*$/.test(needle)
  for await (const wanted of passing(log, filter, sequences, first)) {
    for await (const json of readAll(log, wanted)) {
      // JSON escapes no character of a plain needle, so the bytes of a matching message contain the needle.
      if (isPlain && json.length <= runLimitBytes && !json.toString().toLowerCase().includes(needle)) continue
      if (needle === undefined || messageContains(await parseOwnJsonBytes(json), needle)) yield json
    }
  }
}

/**
 * Yields the seqs of the events that pass the filter by kind and source, in batches. Examines at most `first` events
 * for the first batch, and `later` for each other batch.
 */
async function* passing(
  log: ConversationLog, filter: EventFilter, sequences: Iterator<number>, first = batch, later = batch,
): AsyncGenerator<readonly number[]> {
  const passes = markFilter(filter)
  for (let size = Math.min(first, later), next = sequences.next(); next.done !== true; size = later) {
    const wanted: number[] = []
    for (let left = size; left > 0 && next.done !== true; left--, next = sequences.next()) {
      if (passes(log.markOf(next.value))) wanted.push(next.value)
    }
    yield wanted
    if (next.done !== true) await nextTurn()
  }
}

/** Yields the bytes of the `wanted` events, in that order. Events near each other in the log are read together. */
async function* readAll(log: ConversationLog, wanted: readonly number[]): AsyncGenerator<Buffer> {
  for (let rest = wanted; rest.length > 0;) {
    const begin = log.offsetOf(rest[0] ?? 0)
    const run = rest.filter((seq) => Math.abs(log.offsetOf(seq) - begin) <= runLimitBytes)
    rest = rest.slice(run.length)
    const { events } = await log.readRange(Math.min(...run), Math.max(...run) + 1, Infinity)
    const found = new Map(events.map(({ number, json }) => [number, json]))
    yield* run.flatMap((seq) => found.get(seq) ?? [])
  }
}

function markFilter(filter: EventFilter): (mark: number) => boolean {
  // Some clients send the class path of the kind. The last part of the path is the kind.
  const kind = filter.kind?.slice(filter.kind.lastIndexOf('.') + 1)
  return (mark) =>
    (kind === undefined || kindOfMark(mark) === kind) &&
    (filter.body === undefined || kindOfMark(mark) === 'MessageEvent') &&
    (filter.source === undefined || hasSource(mark, filter.source))
}

function kindOfMark(mark: number): string | undefined {
  return eventKinds[kindPlaceOf(mark)]
}

/** True if the event in `json` has this id. `id` may lack dashes or have upper case. */
function hasId(json: Buffer, id: string): boolean {
  // An id in its stored form is compared with the bytes, so that no string is made of the bytes for each request.
  let at = 0
  while (at < headBytes && !hasTextAt(json, idMember, at)) at++
  const begin = at + idMember.length
  return (hasTextAt(json, id, begin) && json[begin + id.length] === quote) || isSameId(idOf(json), id)
}

function hasTextAt(json: Buffer, text: string, begin: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (json[begin + index] !== text.charCodeAt(index)) return false
  }
  return true
}

/** Compares ids. `given` may lack dashes or have upper case. */
function isSameId(known: string, given: string): boolean {
  return known === given || known.replaceAll('-', '') === given.replaceAll('-', '').toLowerCase()
}

function messageContains(event: unknown, needle: string): boolean {
  if (!isObject(event)) return false
  const message = isObject(event['llm_message']) ? event['llm_message'] : {}
  const reasoning = message['reasoning_content']
  const parts = [...texts(message['content']), ...texts(event['extended_content'])]
  if (typeof reasoning === 'string') parts.push(reasoning)
  return parts.some((part) => part.toLowerCase().includes(needle))
}

function messageText(event: unknown): string | undefined {
  if (!isObject(event) || !isObject(event['llm_message'])) return undefined
  const text = texts(event['llm_message']['content']).join('')
  // A message with reasoning and no text is not an answer.
  return text === '' ? undefined : text
}

function finishText(event: unknown): string | undefined {
  if (!isObject(event) || !isObject(event['action'])) return undefined
  const { kind, message } = event['action']
  return kind === 'FinishAction' && typeof message === 'string' ? message : undefined
}

function texts(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((item: unknown) => (isObject(item) && typeof item['text'] === 'string' ? [item['text']] : []))
}
