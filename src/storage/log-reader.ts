/**
 * Reads the durable part of a log from its file.
 *
 * Every line is checked against the chain when it is first read, so damage is found where it is met: an event whose
 * line is not sound is left out and reported, and the rest is served. Reads are few and large; nothing is parsed.
 */
import { headLength, lineFeed, type Position } from './chain.ts'
import type { CheckedRanges } from './checked-ranges.ts'
import type { EventIndex } from './event-index.ts'
import { isEvent } from './record.ts'
import { firstToRead, type Damage } from './recovery.ts'
import { scan, type Piece } from './scan.ts'

export interface LogReaderOptions {
  readonly read: (length: number, position: number) => Promise<Buffer>
  readonly index: EventIndex
  readonly checked: CheckedRanges
  /** Where the durable part ends now. */
  readonly end: () => Position
  readonly lineLimitBytes: number
  readonly onDamage: (damage: Damage) => void
}

export interface StoredEvent {
  readonly number: number
  readonly json: Buffer
}

export interface StoredLine {
  readonly json: Buffer
  /** The number of the event; undefined for a private record. */
  readonly event: number | undefined
  /** Behind the line: what to give to `lines` to go on from here. */
  readonly position: Position
}

export interface EventRange {
  readonly events: readonly StoredEvent[]
  /** The number to go on from. */
  readonly next: number
}

/** Events `from` up to `to`, as many as fit into `limitBytes` of the file, at least one; damaged ones are left out. */
export async function readEvents(
  options: LogReaderOptions,
  range: { from: number; to: number; limitBytes: number },
): Promise<EventRange> {
  const { index } = options
  const { from } = range
  const end = options.end().offset
  const limit = index.offsetOf(from) + range.limitBytes
  const fitting = end <= limit ? index.count : index.firstFromOffset(limit) - 1
  const next = Math.max(from + 1, Math.min(range.to, fitting))
  const to = next < index.count ? index.offsetOf(next) : end
  const span = { from, next, begin: index.offsetOf(from), end: to }
  const isChecked = options.checked.covers(span.begin, span.end)
  return { events: await (isChecked ? sliceEvents(options, span) : checkEvents(options, span)), next }
}

/** Events `from` up to `next`, and the range of the file with their lines, up to where line `next` begins. */
interface Span {
  readonly from: number
  readonly next: number
  readonly begin: number
  readonly end: number
}

/** The events of lines that are known to be sound. */
async function sliceEvents({ index, read }: LogReaderOptions, { from, next, begin, end }: Span): Promise<StoredEvent[]> {
  const data = await read(end - begin, begin)
  const events: StoredEvent[] = []
  for (let number = from; number < next; number++) {
    const at = index.offsetOf(number) - begin + headLength
    events.push({ number, json: data.subarray(at, data.indexOf(lineFeed, at)) })
  }
  return events
}

async function checkEvents(options: LogReaderOptions, { from, next, begin, end: to }: Span): Promise<StoredEvent[]> {
  const { index, read, lineLimitBytes } = options
  const { position, chain } = firstToRead(index, from)
  const events: StoredEvent[] = []
  let number = from
  let isSound = true
  for await (const pieces of scan({ read, from: position.offset, to, lineLimitBytes, ...chain })) {
    for (const piece of pieces) {
      isSound &&= piece.offset < begin || (piece.state === 'sound' && piece.closed)
      while (number < next && index.offsetOf(number) < piece.offset) reportEvent(options, number++)
      if (number === next || index.offsetOf(number) !== piece.offset) {
        // An event that recovery gave no number is none.
        if (piece.offset > index.offsetOf(from) && isEvent(piece.bytes)) options.onDamage(damageOf(piece, undefined))
        continue
      }
      if (piece.state === 'sound') events.push({ number, json: piece.bytes })
      else reportEvent(options, number, piece)
      number++
    }
  }
  while (number < next) reportEvent(options, number++)
  if (isSound && events.length === next - from) options.checked.add(begin, to)
  return events
}

/** All sound lines from a position on, events and private records, up to where the log ends when the reading begins. */
export async function* readLines(options: LogReaderOptions, from: Position): AsyncGenerator<StoredLine> {
  const { index, read, lineLimitBytes } = options
  const to = options.end().offset
  let next = index.firstFromOffset(from.offset)
  for await (const pieces of scan({ read, from: from.offset, to, previous: from.hash, lineLimitBytes })) {
    for (const piece of pieces) {
      while (next < index.count && index.offsetOf(next) < piece.offset) next++
      const event = next < index.count && index.offsetOf(next) === piece.offset ? next : undefined
      const { bytes: json, hash, end } = piece
      // An event that recovery gave no number is none.
      const usable = piece.state === 'sound' && (event !== undefined || !isEvent(json))
      if (usable) yield { json, event, position: { offset: end, hash } }
      else options.onDamage(damageOf(piece, event))
    }
  }
}

/** True when a line of this log ends at the position and has its hash, as far as the next line proves it. */
export async function holds(options: LogReaderOptions, position: Position): Promise<boolean> {
  const { read, lineLimitBytes } = options
  const end = options.end()
  if (position.offset >= end.offset) return position.offset === end.offset && position.hash === end.hash
  const { offset: from, hash: previous } = position
  for await (const [first] of scan({ read, from, to: end.offset, previous, lineLimitBytes })) {
    if (first !== undefined) return first.state === 'sound'
  }
  return false
}

function reportEvent(options: LogReaderOptions, event: number, piece?: Piece): void {
  const offset = options.index.offsetOf(event)
  options.onDamage(piece === undefined ? { offset, length: 0, event, kind: 'damaged' } : damageOf(piece, event))
}

function damageOf(piece: Piece, event: number | undefined): Damage {
  return { offset: piece.offset, length: piece.end - piece.offset, event, kind: 'damaged' }
}
