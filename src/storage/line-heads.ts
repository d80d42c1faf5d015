/**
 * Rebuilds the index of a log from the first bytes of its lines, almost as fast as a search for newlines.
 *
 * The hash chain is not checked. A line is accepted if it begins like a private record, or like an event with a higher
 * id than the event before. The rebuild stops at any other line. The last accepted event is left out: no later event
 * confirms its id.
 */
import { hashLength, headLength, lineFeed } from './chain.ts'
import type { EventIndex } from './event-index.ts'
import type { ReadableFile } from './files.ts'
import { markOf } from './record.ts'
import { eventSourceValues } from '../schema/generated/values.ts'

export interface IndexLinesOptions {
  readonly log: ReadableFile
  /** An empty index, to which the events are added. */
  readonly index: EventIndex
  readonly kinds: readonly string[]
  /** The offset where reading ends. A line that continues beyond it is left out. */
  readonly to: number
}

const chunkBytes = 1024 * 1024
/** The most bytes that are kept of a line's part in one chunk: enough for an event's kind, id, time and source. */
const beginningBytes = 256

export async function indexLines({ log, index, kinds, to }: IndexLinesOptions): Promise<void> {
  const take = createTaker(index, kinds)
  /** The first bytes of a line that has not ended yet; `start` is the offset of that line. */
  let open: Buffer = Buffer.alloc(0)
  let start = 0
  for await (const { data, offset } of readAhead(log, to)) {
    open = Buffer.concat([open, data.subarray(0, beginningBytes)])
    const first = data.indexOf(lineFeed) + 1
    if (first === 0) continue
    const last = take(linesIn(open), 0, start) ? takeLines(linesIn(data), first, offset, take) : undefined
    if (last === undefined) break
    open = Buffer.from(data.subarray(last, last + beginningBytes))
    start = offset + last
  }
  index.truncate(Math.max(0, index.count - 1))
}

/** Calls `take` for each whole line from index `first` on. Returns their end; undefined if `take` refuses a line. */
function takeLines(lines: Lines, first: number, offset: number, take: Taker): number | undefined {
  const { data } = lines
  let at = first
  for (let end = data.indexOf(lineFeed, at); end !== -1; end = data.indexOf(lineFeed, at)) {
    if (!take(lines, at, offset + at)) return undefined
    at = end + 1
  }
  return at
}

interface Chunk {
  readonly data: Buffer
  readonly offset: number
}

/** Yields the log in chunks. Reads one chunk ahead. A chunk is valid until the next chunk is requested. */
async function* readAhead(log: ReadableFile, to: number): AsyncGenerator<Chunk> {
  let [current, other] = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)]
  const read = (offset: number): Promise<Buffer> => {
    [current, other] = [other, current]
    return log.read(Math.max(0, Math.min(chunkBytes, to - offset)), offset, current)
  }
  let next = read(0)
  try {
    for (let offset = 0; offset < to; offset += chunkBytes) {
      const data = await next
      next = read(offset + chunkBytes)
      yield { data, offset }
    }
  } finally {
    // A caller that stops early may close the file next. So this waits until the read ahead has ended.
    await next
  }
}

/** The bytes of some lines: `data` for reading single bytes, `view` for reading four bytes at a time. */
interface Lines {
  readonly data: Buffer
  readonly view: DataView
}

function linesIn(data: Buffer): Lines {
  return { data, view: new DataView(data.buffer, data.byteOffset, data.length) }
}

/** Adds the event of a line to the index, or skips a private record. Returns false for a line that is not accepted. */
type Taker = (lines: Lines, at: number, offset: number) => boolean

const space = 0x20
const openingBrace = 0x7b
const openingBracket = 0x5b
const quote = 0x22
const timestampStart = patternOf('","timestamp":"')
const sourceStart = patternOf('","source":"')
const sourcePatterns = eventSourceValues.map((source) => patternOf(`${source}"`))
const kindAt = headLength + '{"kind":"'.length
const timestampLength = '2026-11-21T09:30:00.123456Z'.length
const idLength = 36
const twoTo16 = 0x1_0000

function createTaker(index: EventIndex, kinds: readonly string[]): Taker {
  const kindStarts = kinds.map((kind) => patternOf(`${kind}","id":"`))
  /** The position in `kinds` of the last event's kind. The next event often has the same kind. */
  let kind = 0
  return (lines, at, offset) => {
    const { data } = lines
    if (data[at + hashLength] !== space) return false
    if (data[at + headLength] !== openingBrace) return isRecordAt(data, at + headLength)
    kind = findStart(lines, at + kindAt, kindStarts, kind)
    const id = at + kindAt + (kindStarts[kind]?.length ?? 0)
    const time = id + idLength
    if (kind === -1 || !beginsWith(lines, time, timestampStart)) return false
    const a = readHex(data, id)
    const b = readHex(data, id + 4)
    const c = readHex(data, id + 9)
    const d = readHex(data, id + 14)
    if ((a | b | c | d) < 0) return false
    const source = time + timestampStart.length + timestampLength
    const hasSource = beginsWith(lines, source, sourceStart)
    const place = hasSource ? findStart(lines, source + sourceStart.length, sourcePatterns, 0) : -1
    const mark = markOf(kind, eventSourceValues[place] ?? '')
    return index.add({ high: a * twoTo16 + b, low: c * twoTo16 + d, mark, offset })
  }
}

/** Returns the place in `patterns` of the pattern found at this byte, or -1. Compares `patterns[likely]` first. */
function findStart(lines: Lines, at: number, patterns: readonly Pattern[], likely: number): number {
  const first = patterns[likely]
  if (first !== undefined && beginsWith(lines, at, first)) return likely
  return patterns.findIndex((pattern) => beginsWith(lines, at, pattern))
}

/** True when a private record begins at this byte. */
function isRecordAt(data: Buffer, at: number): boolean {
  return data[at] === openingBracket && data[at + 1] === quote
}

/** A text of at least four bytes, as words of four bytes. The last word may repeat bytes of the word before. */
interface Pattern {
  readonly length: number
  readonly words: readonly number[]
}

function patternOf(text: string): Pattern {
  const bytes = Buffer.from(text)
  const { length } = bytes
  const wordAt = (index: number): number => bytes.readInt32LE(Math.min(4 * index, length - 4))
  const words = Array.from({ length: Math.ceil(length / 4) }, (_, index) => wordAt(index))
  return { length, words }
}

function beginsWith({ view }: Lines, at: number, { length, words }: Pattern): boolean {
  const last = at + length - 4
  if (last + 4 > view.byteLength) return false
  for (let index = 0; index < words.length; index++) {
    if (view.getInt32(Math.min(at + 4 * index, last), true) !== words[index]) return false
  }
  return true
}

/** Reads four lower-case hex digits as a number. Returns a negative number for other bytes. */
function readHex(data: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 4; index++) value = (value << 4) | (hexValues[data[index] ?? 0] ?? -1)
  return value
}

const hexValues = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte)))
