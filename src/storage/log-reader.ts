/**
 * Reads the durable part of a log from its file.
 *
 * Lines are checked against the hash chain, but `readEvents` does not check a range that it has found intact before.
 * Damaged events are reported and left out.
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
  /** Returns the position after the last durable line. */
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
  /** Seq of the event, its number in the log from 0 on; undefined for a private record. */
  readonly event: number | undefined
  /** The position after the line. Pass it to `lines` to continue. */
  readonly position: Position
}

export interface EventRange {
  readonly events: readonly StoredEvent[]
  /** The seq with which the next call continues. */
  readonly next: number
}

/** Reads events of seq `from` to before `to`: as many as fit in `limitBytes`, at least one. Omits damaged events. */
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

/** The events from seq `from` to before `next`, and the byte range of their lines. */
interface Span {
  readonly from: number
  readonly next: number
  readonly begin: number
  readonly end: number
}

/** Reads the events of lines that an earlier read has found intact. Does not check them again. */
async function sliceEvents({ index, read }: LogReaderOptions, span: Span): Promise<StoredEvent[]> {
  const { from, next, begin, end } = span
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
        // An event that the index lacks counts as damaged, because recovery put each intact event into the index.
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

/** Reads the valid lines from a position on, up to the end that the log has at the first `next()`. */
export async function* readLines(options: LogReaderOptions, from: Position): AsyncGenerator<StoredLine> {
  const { index, read, lineLimitBytes } = options
  const to = options.end().offset
  let next = index.firstFromOffset(from.offset)
  for await (const pieces of scan({ read, from: from.offset, to, previous: from.hash, lineLimitBytes })) {
    for (const piece of pieces) {
      while (next < index.count && index.offsetOf(next) < piece.offset) next++
      const event = next < index.count && index.offsetOf(next) === piece.offset ? next : undefined
      const { bytes: json, hash, end } = piece
      // An event that the index lacks counts as damaged, because recovery put each intact event into the index.
      const usable = piece.state === 'sound' && (event !== undefined || !isEvent(json))
      if (usable) yield { json, event, position: { offset: end, hash } }
      else options.onDamage(damageOf(piece, event))
    }
  }
}

/** True if the line at `position.offset` continues the chain from `position.hash`, or if the log ends at `position`. */
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
