/**
 * Finds the lines in the bytes of a log, and the next line after damage.
 *
 * A line is sound if its hash fits its JSON and the hash of the line before. A flipped bit damages either the hash or
 * the JSON of a line. So the next line is tried with both: the stored hash, and a hash computed from the damaged JSON.
 *
 * After damage, a line begins where 32 hex digits and a space follow an LF or a damaged LF. Bytes at the end of the
 * log are torn if no LF ends them, not even a damaged LF.
 */
import { genesis, hashAt, hashOf, headLength, lineFeed, mayBeginLine } from './chain.ts'

/** A line of a log, or damaged bytes. Pieces come in order and without gaps. */
export interface Piece {
  readonly state: 'sound' | 'damaged' | 'torn'
  /** The offset of the piece and the offset of the next piece. */
  readonly offset: number
  readonly end: number
  /** True when an LF ends the piece. False also for a sound line whose LF was damaged. */
  readonly closed: boolean
  /** The JSON of a sound line; all bytes of a damaged or torn piece. */
  readonly bytes: Buffer
  /** The hash of this line. The hash of the next line is computed from it. For a damaged or torn piece, a guess. */
  readonly hash: string
}

export interface ScanOptions {
  readonly read: (length: number, position: number) => Promise<Buffer>
  /** The range of bytes to scan. It begins where a line begins. */
  readonly from: number
  readonly to: number
  /** The hash before the first line. Without it the hash of the first line is not checked. */
  readonly previous?: string
  /** The longest JSON of a line, in bytes. A longer line may become several damaged pieces. */
  readonly lineLimitBytes: number
}

const chunkBytes = 256 * 1024
/** The possible hashes of the line before; undefined if that hash is unknown, so that the next line is not checked. */
type Previous = readonly string[] | undefined
/**
 * The most possible hashes of one line. A damaged line has its stored hash, then a hash computed from each possible
 * hash of the line before. The end of a longer list is cut off.
 */
const maxGuesses = 4
/** The most offsets that `possibleEnds` finds for an invalid line. */
const maxCuts = 8

/** Yields the pieces of a range, one chunk of the file at a time. */
export async function* scan(options: ScanOptions): AsyncGenerator<readonly Piece[]> {
  const { from, to, lineLimitBytes } = options
  let previous: Previous = options.previous === undefined ? undefined : [options.previous]
  let data: Buffer = Buffer.alloc(0)
  let offset = from
  for (let last = false; !last; ) {
    const more = await readMore(options, offset + data.length, data.length)
    last = more.length === 0 || offset + data.length + more.length >= to
    data = data.length === 0 ? more : Buffer.concat([data, more])
    const found = split(data, offset, previous, last)
    previous = found.previous
    data = data.subarray(found.used)
    offset += found.used
    if (data.length > lineLimitBytes + headLength + 1) {
      // The line is too long to hold in memory. Its parts become damaged pieces.
      const end = offset + data.length
      found.pieces.push({ state: 'damaged', offset, end, closed: false, bytes: data, hash: genesis })
      offset += data.length
      data = Buffer.alloc(0)
      previous = [genesis]
    }
    yield found.pieces
  }
}

/**
 * Reads the next bytes of the range. `kept` is the size of the unfinished line in memory. A read gets as many bytes as
 * that, and at least `chunkBytes`: the bytes in memory double each time, so a long line is searched only a few times.
 */
function readMore(options: ScanOptions, position: number, kept: number): Promise<Buffer> {
  const length = Math.min(Math.max(chunkBytes, kept), options.to - position)
  return length > 0 ? options.read(length, position) : Promise.resolve(Buffer.alloc(0))
}

interface Split {
  readonly pieces: Piece[]
  readonly used: number
  readonly previous: Previous
}

/** Splits bytes into pieces. If `last` is false, leaves an incomplete last piece for the next call. */
function split(data: Buffer, base: number, first: Previous, last: boolean): Split {
  const pieces: Piece[] = []
  let previous = first
  let at = 0
  while (at < data.length) {
    const piece = soundLine(data, at, base, previous) ?? unsoundPiece(data, at, base, previous, last)
    if (piece === undefined) break
    previous = piece.state === 'sound' ? [piece.hash] : guesses(data, at, piece.end - base, previous)
    pieces.push(piece)
    at = piece.end - base
  }
  return { pieces, used: at, previous }
}

function soundLine(data: Buffer, at: number, base: number, previous: Previous): Piece | undefined {
  const end = data.indexOf(lineFeed, at + headLength)
  return end === -1 ? undefined : lineUpTo(data, at, end, base, previous)
}

/** Returns the line from `at` up to the LF, or the damaged LF, at `end`, if the line is sound. */
function lineUpTo(data: Buffer, at: number, end: number, base: number, previous: Previous): Piece | undefined {
  const hash = hashAt(data, at)
  if (hash === undefined) return undefined
  const bytes = data.subarray(at + headLength, end)
  const sound = previous === undefined || previous.some((candidate) => hashOf(candidate, bytes) === hash)
  const closed = data[end] === lineFeed
  return sound ? { state: 'sound', offset: base + at, end: base + end + 1, closed, bytes, hash } : undefined
}

/** Returns a damaged or torn piece, or a sound line whose LF is damaged; undefined when more bytes are needed. */
function unsoundPiece(data: Buffer, at: number, base: number, previous: Previous, last: boolean): Piece | undefined {
  const end = endOfPiece(data, at, last)
  if (end === undefined && !last) return undefined
  // At the end of the log the last byte may be a damaged LF.
  const cuts = [...possibleEnds(data, at, end ?? data.length), ...(end === undefined ? [data.length - 1] : [])]
  for (const cut of cuts) {
    const line = lineUpTo(data, at, cut, base, previous)
    if (line !== undefined) return line
  }
  // A damaged LF joins this line to the next line. The next line begins after the first of `cuts` that a hash follows.
  const hidden = cuts.find((cut) => hashAt(data, cut + 1) !== undefined)
  const until = hidden === undefined ? (end ?? data.length) : hidden + 1
  const state = hidden === undefined && end === undefined ? 'torn' : 'damaged'
  const hash = guesses(data, at, until, previous)?.[0] ?? genesis
  const closed = data[until - 1] === lineFeed
  return { state, offset: base + at, end: base + until, closed, bytes: data.subarray(at, until), hash }
}

/** Returns the index after the first LF that a next line or the log's end follows; undefined if `data` shows none. */
function endOfPiece(data: Buffer, at: number, last: boolean): number | undefined {
  for (let end = data.indexOf(lineFeed, at); end !== -1; end = data.indexOf(lineFeed, end + 1)) {
    const whole = end + 1 + headLength <= data.length
    if (mayBeginLine(data, end + 1)) return whole || last ? end + 1 : undefined
  }
  return undefined
}

/** Returns up to `maxCuts` offsets where the line at `at` may end: an LF, or the byte before another line's hash. */
function possibleEnds(data: Buffer, at: number, end: number): number[] {
  const text = data.toString('latin1', at, end)
  const ends: number[] = []
  // Matches an LF, or the space between a hash and its JSON. A pattern that began with the 32 digits of the hash would
  // take seconds in a long hexadecimal text.
  for (const { 0: found, index } of text.matchAll(/\n| (?=[{[])(?<=[^][0-9a-f]{32} )/g)) {
    const place = at + (found === '\n' ? index : index - headLength)
    if (place > at && place !== ends.at(-1)) ends.push(place)
    if (ends.length === maxCuts) break
  }
  return ends
}

/** Returns the possible hashes of an invalid line: its stored hash, and the hash of its JSON after each `previous`. */
function guesses(data: Buffer, at: number, end: number, previous: Previous): Previous {
  const stored = hashAt(data, at)
  if (previous === undefined) return stored === undefined ? undefined : [stored]
  const json = data.subarray(Math.min(at + headLength, end - 1), end - 1)
  const recomputed = previous.map((candidate) => hashOf(candidate, json))
  return [...(stored === undefined ? [] : [stored]), ...recomputed].slice(0, maxGuesses)
}
