/**
 * Brings a log into order when it is opened: finds its end, cuts what a crash left unfinished, completes the index.
 *
 * Only what the index does not cover and the last 64 KiB are read; without a usable index, all of it is, once, and but
 * for its end by the beginnings of its lines alone (storage/line-heads). What is damaged stays where it is, is reported
 * where it is met, and gets no new number. Two things are cut away: bytes at the end that never became a line, and, within
 * the last `groupLimitBytes`, everything from a hole on. A hole is a run of zero bytes, which no line holds: a power cut
 * leaves it where a write that was never synced reached the disk in part. No event from there on had been acknowledged,
 * since one group at most is written and not synced. Whole lines that are cut with it are kept beside the log, in
 * `events.cut-<offset>`.
 */
import { join } from 'node:path'
import { genesis, lineFeed, start, type Position } from './chain.ts'
import type { EventIndex } from './event-index.ts'
import type { Files, OpenFile } from './files.ts'
import { indexLines } from './line-heads.ts'
import { isEvent, labelOf } from './record.ts'
import { scan, type Piece } from './scan.ts'

/** How much of the end of a log is checked when it is opened. */
export const checkedBytes = 64 * 1024
/** An index that is behind by more than an index file of ours ever is belongs to something else, or is none. */
const farBehindBytes = 2 * 1024 * 1024
/** Damage beyond this many places is set aside without being reported one by one. */
export const maxDamages = 10_000

/** A piece of a log that is not served. */
export interface Damage {
  readonly offset: number
  readonly length: number
  /** The number of the event that was there, where the index tells. */
  readonly event: number | undefined
  /** `damaged` is still there, `cut` was cut away. */
  readonly kind: 'damaged' | 'cut'
}

export interface RecoveryOptions {
  readonly directory: string
  readonly files: Files
  readonly log: OpenFile
  /** What the index file gave; what it lacks is added, what it has too much is taken away. */
  readonly index: EventIndex
  readonly kinds: readonly string[]
  readonly lineLimitBytes: number
  readonly groupLimitBytes: number
}

export interface Recovered {
  /** Where the log ends, now that it is in order and synced. */
  readonly end: Position
  /** How many events the index had right before. */
  readonly indexed: number
  readonly damages: readonly Damage[]
}

/**
 * Brings the log and the index into order.
 * Rejects with what the file operations reject with; then it may be tried again.
 */
export async function recover(options: RecoveryOptions): Promise<Recovered> {
  const { log, index } = options
  const size = await log.size()
  const before = index.count
  const along = size - coveredBy(index) <= farBehindBytes ? await walk(options, size) : undefined
  const { end, damages, keep } = along ?? (await rebuild(options, size))
  if (end.offset < size) {
    const length = size - end.offset
    if (keep) await keepCopy(options, end.offset, length)
    await log.truncate(end.offset)
    damages.push({ offset: end.offset, length, event: undefined, kind: 'cut' })
  }
  // What a killed process had written but not synced is about to be served.
  await log.sync()
  return { end, damages, indexed: along === undefined ? 0 : Math.min(before, index.count) }
}

/** Where the last line begins that the index has. */
function coveredBy(index: EventIndex): number {
  return index.count === 0 ? 0 : index.offsetOf(index.count - 1)
}

interface Outcome {
  readonly end: Position
  readonly damages: Damage[]
  /** True when more than an unfinished line lies behind the end. */
  readonly keep: boolean
}

/** Fast, by the beginnings of lines; with the chain from the first line on when that leads into a contradiction. */
async function rebuild(options: RecoveryOptions, size: number): Promise<Outcome> {
  const { index } = options
  index.truncate(0)
  await indexLines({ ...options, to: size - farBehindBytes })
  const quick = await walk(options, size)
  if (quick !== undefined) return quick
  index.truncate(0)
  const outcome = await walk(options, size)
  if (outcome === undefined) throw new TypeError('An empty index contradicts no log')
  return outcome
}

/** Reads the end of the log along the index. Undefined when the index does not fit the log. */
async function walk(options: RecoveryOptions, size: number): Promise<Outcome | undefined> {
  const { log, index, lineLimitBytes, kinds } = options
  const covered = coveredBy(index)
  if (covered > size) return undefined
  const checkedFrom = Math.min(Math.max(0, size - checkedBytes), covered)
  const first = firstToRead(index, index.firstFromOffset(checkedFrom))
  const damages: Damage[] = []
  let next = first.event
  let end: Position = first.position
  for await (const pieces of scan({ read: log.read, from: end.offset, to: size, lineLimitBytes, ...first.chain })) {
    for (const piece of pieces) {
      if (endsLog(piece, size - options.groupLimitBytes)) {
        index.truncate(next)
        return { end, damages, keep: piece.state === 'damaged' || piece.bytes.includes(lineFeed) }
      }
      const fit = fitToIndex(index, next, piece, kinds)
      if (fit === 'contradiction') return undefined
      const isDamaged = fit === 'damaged' || fit === 'damaged event'
      if (isDamaged && piece.offset >= checkedFrom && damages.length < maxDamages) {
        const event = fit === 'damaged event' ? next : undefined
        damages.push({ offset: piece.offset, length: piece.end - piece.offset, event, kind: 'damaged' })
      }
      if (fit === 'event' || fit === 'damaged event') next++
      end = { offset: piece.end, hash: piece.hash }
    }
  }
  return next < index.count ? undefined : { end, damages, keep: false }
}

export interface FirstToRead {
  /** The event whose line comes first. */
  readonly event: number
  readonly position: Position
  /** What `scan` is told about the line before. */
  readonly chain: { readonly previous?: string }
}

/**
 * Where to begin to check event `number`: three events before it. The first line is not checked: when its hash is damaged,
 * the second one's JSON still gives a hash for what follows; when its separator is damaged, it is taken together with
 * the second one, and then the third one's stored hash does.
 */
export function firstToRead(index: EventIndex, number: number): FirstToRead {
  const event = number - 3
  if (event < 0) return { event: 0, position: start, chain: { previous: genesis } }
  return { event, position: { offset: index.offsetOf(event), hash: genesis }, chain: {} }
}

type Fit = 'event' | 'damaged event' | 'private' | 'damaged' | 'contradiction'

/** Compares a piece with the index at event `next`, and adds an event that the index does not have yet. */
function fitToIndex(index: EventIndex, next: number, piece: Piece, kinds: readonly string[]): Fit {
  const expected = next < index.count ? index.offsetOf(next) : Infinity
  if (expected < piece.offset) return 'contradiction'
  const here = expected === piece.offset
  if (piece.state !== 'sound') return here ? 'damaged event' : 'damaged'
  if (!isEvent(piece.bytes)) return here ? 'contradiction' : 'private'
  const label = labelOf(piece.bytes, kinds)
  if (here) return label?.upper === index.upperOf(next) && label.mark === index.markOf(next) ? 'event' : 'contradiction'
  // A sound line that no version of ours wrote: nobody could find it.
  if (label === undefined || (next > 0 && label.upper <= index.upperOf(next - 1))) return 'damaged'
  if (next < index.count) return 'contradiction'
  index.push(label, piece.offset)
  return 'event'
}

/** True for what was never finished, and for a hole that is near enough to the end to be one of a lost write. */
function endsLog(piece: Piece, lastGroupFrom: number): boolean {
  if (piece.state !== 'damaged') return piece.state === 'torn'
  // One zero byte may be a flipped bit of a space; at the beginning of a line there is no such byte.
  return piece.offset >= lastGroupFrom && (piece.bytes.includes('\0\0') || piece.bytes[0] === 0)
}

async function keepCopy(options: RecoveryOptions, offset: number, length: number): Promise<void> {
  const copy = await options.files.open(join(options.directory, `events.cut-${offset}`))
  try {
    await copy.write(await options.log.read(length, offset), 0)
    await copy.sync()
  } finally {
    await copy.close()
  }
}
