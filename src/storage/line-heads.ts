/**
 * Makes the index of a log that has none, from the beginnings of its lines alone: little slower than newlines are found.
 *
 * The chain is not checked here, as it is not where a log is opened along its index: a line is checked when it is read.
 * So only what looks exactly like a line of this server is taken: a hash, a space, and an event in canonical form whose
 * id is after the one before, or a private record. At the first line that looks otherwise this stops, and who goes on
 * from there along the chain finds out. The last event is given back too: when its id was damaged so that it became
 * higher, only the line behind it shows that.
 */
import { hashLength, headLength, lineFeed } from './chain.ts'
import type { EventIndex } from './event-index.ts'
import type { ReadableFile } from './files.ts'
import { markOf, type EventSource } from './record.ts'

export interface IndexLinesOptions {
  readonly log: ReadableFile
  /** Is empty, and gets the events. */
  readonly index: EventIndex
  readonly kinds: readonly string[]
  /** No line that ends behind this byte is looked at. */
  readonly to: number
  readonly lineLimitBytes: number
}

const chunkBytes = 1024 * 1024
const space = 0x20

export async function indexLines({ log, index, kinds, to, lineLimitBytes }: IndexLinesOptions): Promise<void> {
  const starts = kinds.map((kind) => Buffer.from(`${kind}","id":"`))
  let buffer = Buffer.allocUnsafeSlow(chunkBytes)
  for (let offset = 0; offset < to; ) {
    const data = await log.read(Math.min(buffer.length, to - offset), offset, buffer)
    const used = indexChunk({ data, offset, index, starts })
    if (used === undefined) break
    offset += used
    if (used > 0) continue
    if (data.length < buffer.length || buffer.length > lineLimitBytes) break
    // A line that is longer than the buffer.
    buffer = Buffer.allocUnsafeSlow(2 * buffer.length)
  }
  index.truncate(Math.max(0, index.count - 1))
}

interface Chunk {
  readonly data: Buffer
  /** Where it begins, which is where a line does. */
  readonly offset: number
  readonly index: EventIndex
  /** Behind `{"kind":"`, of an event of each kind. */
  readonly starts: readonly Buffer[]
}

/** Adds the events of all whole lines, and tells where the last of them ends; undefined when one looks damaged. */
function indexChunk({ data, offset, index, starts }: Chunk): number | undefined {
  let at = 0
  for (let end = data.indexOf(lineFeed); end !== -1; end = data.indexOf(lineFeed, at)) {
    if (data[at + hashLength] !== space) return undefined
    const json = at + headLength
    if (beginsWith(data, json, eventStart)) {
      if (!indexEvent(data, json + eventStart.length, starts, index, offset + at)) return undefined
    } else if (!beginsWith(data, json, recordStart)) return undefined
    at = end + 1
  }
  return at
}

const eventStart = Buffer.from('{"kind":"')
const recordStart = Buffer.from('["')
const timestampStart = Buffer.from('","timestamp":"')
const sourceStart = Buffer.from('","source":"')
const timestampLength = '2026-11-21T09:30:00.123456Z'.length
const idLength = 36

/** False when it does not look like an event whose kind begins at `at`. */
function indexEvent(data: Buffer, at: number, starts: readonly Buffer[], index: EventIndex, offset: number): boolean {
  const kind = starts.findIndex((start) => beginsWith(data, at, start))
  const id = at + (starts[kind]?.length ?? 0)
  const time = id + idLength
  if (kind === -1 || !beginsWith(data, time, timestampStart)) return false
  const high = readHex(data, id, 8)
  const low = readHex(data, id + 9, 4) * 0x1_0000 + readHex(data, id + 14, 4)
  const source = time + timestampStart.length + timestampLength
  const mark = markOf(kind, beginsWith(data, source, sourceStart) ? sourceOf(data[source + sourceStart.length]) : '')
  return !Number.isNaN(high + low) && index.add({ high, low, mark, offset })
}

/** The sources begin with different letters. */
function sourceOf(letter: number | undefined): EventSource | '' {
  switch (letter) {
    case 0x61: return 'agent'
    case 0x75: return 'user'
    case 0x65: return 'environment'
    default: return ''
  }
}

function beginsWith(data: Buffer, at: number, start: Buffer): boolean {
  for (let index = 0; index < start.length; index++) {
    if (data[at + index] !== start[index]) return false
  }
  return true
}

/** The number that so many lower-case hex digits stand for; NaN if there is anything else. */
function readHex(data: Buffer, at: number, digits: number): number {
  let value = 0
  for (let index = at; index < at + digits; index++) value = value * 16 + (hexValues[data[index] ?? 0] ?? NaN)
  return value
}

const hexValues: readonly number[] = Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte)))
  .map((value) => (value === -1 ? NaN : value))
