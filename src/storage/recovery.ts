/**
 * Repairs a log when it is opened: finds its end, cuts off an unfinished write, and completes the index.
 *
 * The repair reads the last 64 KiB of the log and all lines that the index lacks. Reading begins up to three events
 * earlier, to pick up the hash chain. An unusable index is rebuilt. Damaged lines stay in place.
 *
 * The log is cut at an unfinished last line, or at a hole (zero bytes that a power cut leaves in an unsynced write) in
 * its last MiB. The cut-off bytes are copied to `events.cut-<offset>`, unless they are only an unfinished line.
 */
import { join } from 'node:path'
import { genesis, lineFeed, start, type Position } from './chain.ts'
import type { EventIndex } from './event-index.ts'
import type { Files, OpenFile } from './files.ts'
import { indexLines } from './line-heads.ts'
import { isEvent, labelOf } from './record.ts'
import { scan, type Piece } from './scan.ts'

/** At each opening, at least this many bytes at the end of a log are checked, or the whole log if it is shorter. */
export const checkedBytes = 64 * 1024
/** If more than this many bytes of the log are not in the index, the whole index is rebuilt. */
const farBehindBytes = 2 * 1024 * 1024
/** At most this many damaged pieces of a log are reported. */
export const maxDamages = 10_000

/** A damaged or cut-off piece of a log, which readers do not get. */
export interface Damage {
  readonly offset: number
  readonly length: number
  /** Seq of the event in the piece; undefined if the index has no event there. */
  readonly event: number | undefined
  /** `damaged`: the piece is still in the log's file. `cut`: it was removed from the end of the file. */
  readonly kind: 'damaged' | 'cut'
}

export interface RecoveryOptions {
  readonly directory: string
  readonly files: Files
  readonly log: OpenFile
  /** The index as read from its file. `recover` adds and removes events so that the index fits the log. */
  readonly index: EventIndex
  readonly kinds: readonly string[]
  readonly lineLimitBytes: number
  readonly groupLimitBytes: number
}

export interface Recovered {
  /** The end of the log after the repair and the sync. */
  readonly end: Position
  /** The number of records at the start of the index file that are right, and need not be written again. */
  readonly indexed: number
  readonly damages: readonly Damage[]
}

/** Repairs the log and the index. Rejects with the errors of the file operations; it may be called again after that. */
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
  // A killed process may have written the last lines without a sync.
  await log.sync()
  return { end, damages, indexed: along === undefined ? 0 : Math.min(before, index.count) }
}

/** Returns the offset at which the line of the last event in the index begins; 0 for an empty index. */
function coveredBy(index: EventIndex): number {
  return index.count === 0 ? 0 : index.offsetOf(index.count - 1)
}

interface Outcome {
  readonly end: Position
  readonly damages: Damage[]
  /** True when the bytes to cut off are more than one unfinished line. They are copied before the cut. */
  readonly keep: boolean
}

/** Rebuilds the index from the first bytes of lines. If that index contradicts the log, reads all lines in full. */
async function rebuild(options: RecoveryOptions, size: number): Promise<Outcome> {
  const { log, index, kinds } = options
  index.truncate(0)
  await indexLines({ log, index, kinds, to: size - farBehindBytes })
  const quick = await walk(options, size)
  if (quick !== undefined) return quick
  index.truncate(0)
  const outcome = await walk(options, size)
  if (outcome === undefined) throw new TypeError('An empty index contradicts no log')
  return outcome
}

/** Adds to the index the last events of the log that it lacks. Returns undefined if the index contradicts the log. */
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
  /** Seq of the first event at `position` or later. */
  readonly event: number
  readonly position: Position
  /** An option for `scan`: the hash before the first line. Without it, the hash of that line is not checked. */
  readonly chain: { readonly previous?: string }
}

/**
 * Returns where reading must begin, so that the event `number` can be checked: three events before it, or at the start
 * of the log. Inside the log, the first line that is read is not checked, because the hash of the line before it is
 * unknown. If the first line is damaged, `scan` finds the chain again within the next two events.
 */
export function firstToRead(index: EventIndex, number: number): FirstToRead {
  const event = number - 3
  if (event < 0) return { event: 0, position: start, chain: { previous: genesis } }
  return { event, position: { offset: index.offsetOf(event), hash: genesis }, chain: {} }
}

type Fit = 'event' | 'damaged event' | 'private' | 'damaged' | 'contradiction'

/** Tells how a piece fits the index (`next`: the seq of the next event). Adds a new event to the end of the index. */
function fitToIndex(index: EventIndex, next: number, piece: Piece, kinds: readonly string[]): Fit {
  const expected = next < index.count ? index.offsetOf(next) : Infinity
  if (expected < piece.offset) return 'contradiction'
  const here = expected === piece.offset
  if (piece.state !== 'sound') return here ? 'damaged event' : 'damaged'
  if (!isEvent(piece.bytes)) return here ? 'contradiction' : 'private'
  const label = labelOf(piece.bytes, kinds)
  if (here) {
    const isSame = label?.upper === index.upperOf(next) && label.mark === index.markOf(next)
    return isSame ? 'event' : 'contradiction'
  }
  // The index cannot hold this intact event: its form or kind is unknown, or its id is not above the last event's id.
  if (label === undefined || (next > 0 && label.upper <= index.upperOf(next - 1))) return 'damaged'
  if (next < index.count) return 'contradiction'
  index.push(label, piece.offset)
  return 'event'
}

/** True for an unfinished line, and for a damaged piece from `lastGroupFrom` on that has a hole (zero bytes). */
function endsLog(piece: Piece, lastGroupFrom: number): boolean {
  if (piece.state !== 'damaged') return piece.state === 'torn'
  // A single zero byte may be a space with a flipped bit. No line begins with a space, so a first zero byte is a hole.
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
