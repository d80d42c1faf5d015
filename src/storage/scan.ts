/**
 * Finds the lines in the bytes of a log, says which are sound, and finds its way again after damage.
 *
 * A line is sound if its hash fits its JSON and the hash of the line before, as that is stored or as it is recomputed:
 * so a flipped bit makes one line unsound, be it in the hash, in the JSON or in what separates lines, and not the one
 * after it. After an unsound line the next one begins behind the next LF that 32 hex digits and a space follow. Bytes
 * at the end that no LF closes are torn. Memory is bounded: what is longer than a line may be is damage.
 */
import { genesis, hashAt, hashOf, headLength, lineFeed, mayBeginLine } from './chain.ts'

/** A piece of a log; pieces are given in order and without a gap. */
export interface Piece {
  readonly state: 'sound' | 'damaged' | 'torn'
  /** Where it begins in the file, and where the next one does. */
  readonly offset: number
  readonly end: number
  /** Whether an LF closes it. A sound line that something else follows is still sound. */
  readonly closed: boolean
  /** The JSON of a sound line; otherwise all of the bytes. */
  readonly bytes: Buffer
  /** What the next line continues from if it is written after this piece. */
  readonly hash: string
}

export interface ScanOptions {
  readonly read: (length: number, position: number) => Promise<Buffer>
  /** The range of the file; it begins where a line does. */
  readonly from: number
  readonly to: number
  /** The hash before the first line; without it, the first line is taken as it is stored. */
  readonly previous?: string
  /** The longest line. */
  readonly lineLimitBytes: number
}

const chunkBytes = 256 * 1024
/** The hashes that a line may continue from; undefined before an unchecked first line. */
type Previous = readonly string[] | undefined
/** More come from several damaged lines in a row; older guesses are then dropped. */
const maxGuesses = 4
/** How many places are tried as the end of an unsound line. */
const maxCuts = 8

/** The pieces of a range, a chunk of the file at a time. */
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
      // What comes next begins in the middle of something; it is found again at the next line.
      found.pieces.push({ state: 'damaged', offset, end: offset + data.length, closed: false, bytes: data, hash: genesis })
      offset += data.length
      data = Buffer.alloc(0)
      previous = [genesis]
    }
    yield found.pieces
  }
}

/** As much again as is kept of an unfinished line, so that a long line is searched a few times and not often. */
function readMore(options: ScanOptions, position: number, kept: number): Promise<Buffer> {
  const length = Math.min(Math.max(chunkBytes, kept), options.to - position)
  return length > 0 ? options.read(length, position) : Promise.resolve(Buffer.alloc(0))
}

interface Split {
  readonly pieces: Piece[]
  readonly used: number
  readonly previous: Previous
}

/** All pieces that end in these bytes. With `last`, no more bytes follow, and what is left over is torn. */
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

/** The line from `at` up to the separator at `end`, if it is sound. */
function lineUpTo(data: Buffer, at: number, end: number, base: number, previous: Previous): Piece | undefined {
  const hash = hashAt(data, at)
  if (hash === undefined) return undefined
  const bytes = data.subarray(at + headLength, end)
  const sound = previous === undefined || previous.some((candidate) => hashOf(candidate, bytes) === hash)
  const closed = data[end] === lineFeed
  return sound ? { state: 'sound', offset: base + at, end: base + end + 1, closed, bytes, hash } : undefined
}

/** What begins at `at` and is not simply a sound line; undefined when more bytes must be seen first. */
function unsoundPiece(data: Buffer, at: number, base: number, previous: Previous, last: boolean): Piece | undefined {
  const end = endOfPiece(data, at, last)
  if (end === undefined && !last) return undefined
  // Where nothing follows, the last byte may be a damaged separator.
  const cuts = [...possibleEnds(data, at, end ?? data.length), ...(end === undefined ? [data.length - 1] : [])]
  for (const cut of cuts) {
    const line = lineUpTo(data, at, cut, base, previous)
    if (line !== undefined) return line
  }
  // Another line may hide behind a damaged separator.
  const hidden = cuts.find((cut) => hashAt(data, cut + 1) !== undefined)
  const until = hidden === undefined ? (end ?? data.length) : hidden + 1
  const state = hidden === undefined && end === undefined ? 'torn' : 'damaged'
  const hash = guesses(data, at, until, previous)?.[0] ?? genesis
  const closed = data[until - 1] === lineFeed
  return { state, offset: base + at, end: base + until, closed, bytes: data.subarray(at, until), hash }
}

/** Behind the next LF that a line follows, or nothing at all; undefined if there is none. */
function endOfPiece(data: Buffer, at: number, last: boolean): number | undefined {
  for (let end = data.indexOf(lineFeed, at); end !== -1; end = data.indexOf(lineFeed, end + 1)) {
    const whole = end + 1 + headLength <= data.length
    if (mayBeginLine(data, end + 1)) return whole || last ? end + 1 : undefined
  }
  return undefined
}

/** Where the first line in an unsound piece may end: at an LF, or at any byte that the beginning of a line follows. */
function possibleEnds(data: Buffer, at: number, end: number): number[] {
  const text = data.toString('latin1', at, end)
  const ends: number[] = []
  // an LF, or any byte; in the second case hash, space and the first byte of an event or a private record follow
  for (const match of text.matchAll(/\n|[^](?=[0-9a-f]{32} [{[])/g)) {
    if (match.index > 0) ends.push(at + match.index)
    if (ends.length === maxCuts) break
  }
  return ends
}

/** The hashes that may be the right one behind an unsound piece: as it is stored, and as its JSON gives it. */
function guesses(data: Buffer, at: number, end: number, previous: Previous): Previous {
  const stored = hashAt(data, at)
  if (previous === undefined) return stored === undefined ? undefined : [stored]
  const json = data.subarray(Math.min(at + headLength, end - 1), end - 1)
  const recomputed = previous.map((candidate) => hashOf(candidate, json))
  return [...(stored === undefined ? [] : [stored]), ...recomputed].slice(0, maxGuesses)
}
