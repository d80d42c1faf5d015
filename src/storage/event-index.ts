/**
 * The index of one log's events. A record has 16 bytes, in memory and in `events.index` (columns: offset, length):
 *
 *      0  8  upper half of the event id, big-endian: the event's time
 *      8  6  offset of the event's line in the log, big-endian
 *     14  1  mark: kind and source (see storage/record)
 *     15  1  check: the exclusive-or of all other bytes and 0x5a
 *
 * Record n is the event with seq n, its number in the log from 0 on. Ids and offsets strictly increase, so records are
 * found by binary search.
 */
import type { UpperWords } from '../base/stamp.ts'
import type { EventLabel } from './record.ts'

export const recordBytes = 16
const blockRecords = 16 * 1024
const blockBytes = blockRecords * recordBytes
/** The first size of a block of records, in bytes. A full block doubles its size, but grows by at most `stepBytes`. */
const leastBytes = 1024
const stepBytes = 32 * 1024
/** In an index file, only every `orderedRecords`th offset is compared with the offset before it. */
const orderedRecords = 1024
const recordWords = recordBytes / 4
const checkSeed = 0x5a
const twoTo32 = 0x1_0000_0000

/** The index record of an event. `high` and `low` are the first 8 bytes of its id; its line begins at `offset`. */
export interface IndexRecord {
  readonly high: number
  readonly low: number
  readonly mark: number
  readonly offset: number
}

export class EventIndex {
  #blocks: DataView[] = []
  #count = 0

  /** Returns the index in a file's bytes, up to the first invalid record. The caller must not change `bytes` later. */
  static from(bytes: Buffer): EventIndex {
    const index = new EventIndex()
    index.#count = countSound(bytes)
    const end = index.#count * recordBytes
    for (let at = 0; at < end; at += blockBytes) index.#blocks.push(blockOf(bytes, at, Math.min(at + blockBytes, end)))
    return index
  }

  get count(): number {
    return this.#count
  }

  /** Adds the index record of an event. @throws RangeError when the id or the offset does not increase. */
  push(label: EventLabel, offset: number): void {
    if (this.add({ high: highHalf(label.upper), low: lowHalf(label.upper), mark: label.mark, offset })) return
    const problem = `its id "${label.upper}" or offset ${offset} does not increase`
    throw new RangeError(`Cannot index event ${this.#count}: ${problem}`)
  }

  /** Adds a record and returns true; returns false, and adds none, when the id or the offset does not increase. */
  add({ high, low, mark, offset }: IndexRecord): boolean {
    const number = this.#count
    if (number > 0 && !this.#isBefore(number - 1, high, low, offset)) return false
    const at = placeOf(number)
    const block = this.#blockFor(number, at)
    const above = Math.floor(offset / twoTo32)
    block.setUint32(at, high)
    block.setUint32(at + 4, low)
    block.setUint16(at + 8, above)
    // `setUint32` and the exclusive-or below use only the lower 32 bits of the offset.
    block.setUint32(at + 10, offset)
    block.setUint8(at + 14, mark)
    block.setUint8(at + 15, folded(high ^ low ^ above ^ offset ^ mark) ^ checkSeed)
    this.#count++
    return true
  }

  offsetOf(number: number): number {
    return offsetIn(this.#blockOf(number), placeOf(number))
  }

  markOf(number: number): number {
    return this.#blockOf(number).getUint8(placeOf(number) + 14)
  }

  /** Returns the upper half of the event's id, 16 hex digits. */
  upperOf(number: number): string {
    const block = this.#blockOf(number)
    const at = placeOf(number)
    return hex(block.getUint32(at)) + hex(block.getUint32(at + 4))
  }

  /** Returns the seq of the first event whose id has this upper half or a higher one; `count` if there is none. */
  firstFromId(upper: string): number {
    return this.#firstFrom(highHalf(upper), lowHalf(upper))
  }

  /** Returns the seq of the event whose id has this upper half; -1 if there is none. */
  numberOf({ high, low }: UpperWords): number {
    const number = this.#firstFrom(high, low)
    if (number === this.#count) return -1
    const block = this.#blockOf(number)
    const at = placeOf(number)
    return block.getUint32(at) === high && block.getUint32(at + 4) === low ? number : -1
  }

  /** Returns the seq of the first event whose line begins at this offset or later; `count` if there is none. */
  firstFromOffset(offset: number): number {
    return this.#first((block, at) => offsetIn(block, at) >= offset)
  }

  /** Removes the events whose seq is `count` or higher. */
  truncate(count: number): void {
    this.#count = Math.min(count, this.#count)
    this.#blocks.length = Math.ceil(this.#count / blockRecords)
  }

  /** Returns the bytes of the records from seq `from` to before `to`. */
  bytes(from: number, to: number): Buffer {
    const parts: Uint8Array[] = []
    for (let number = from; number < to; ) {
      const at = placeOf(number)
      const records = Math.min(to - number, blockRecords - (number % blockRecords))
      parts.push(bytesOf(this.#blockOf(number)).subarray(at, at + records * recordBytes))
      number += records
    }
    return Buffer.concat(parts)
  }

  #isBefore(number: number, high: number, low: number, offset: number): boolean {
    const block = this.#blockOf(number)
    const at = placeOf(number)
    const ownHigh = block.getUint32(at)
    return (ownHigh < high || (ownHigh === high && block.getUint32(at + 4) < low)) && offsetIn(block, at) < offset
  }

  /** Returns the block for the record `number`, with room at the byte `at`. Makes or enlarges the block if needed. */
  #blockFor(number: number, at: number): DataView {
    const place = Math.floor(number / blockRecords)
    const last = this.#blocks[place]
    if (last !== undefined && at < last.byteLength) return last
    const block = new DataView(new ArrayBuffer(Math.min(Math.max(2 * at, leastBytes), at + stepBytes, blockBytes)))
    if (last !== undefined) new Uint8Array(block.buffer).set(bytesOf(last))
    this.#blocks[place] = block
    return block
  }

  #blockOf(number: number): DataView {
    const block = this.#blocks[Math.floor(number / blockRecords)]
    if (block === undefined) throw new RangeError(`Cannot find event ${number}: there are ${this.#count}`)
    return block
  }

  /** Works like `firstFromId`, with the upper half as two numbers. Uses no closure, because it runs often. */
  #firstFrom(high: number, low: number): number {
    let from = 0
    let to = this.#count
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      const block = this.#blockOf(middle)
      const at = placeOf(middle)
      const word = block.getUint32(at)
      if (word > high || (word === high && block.getUint32(at + 4) >= low)) to = middle
      else from = middle + 1
    }
    return from
  }

  /** Returns the seq of the first record that passes `test`; `count` if none does. All later records must pass too. */
  #first(test: (block: DataView, at: number) => boolean): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (test(this.#blockOf(middle), placeOf(middle))) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Returns the offset of the record `number` in its block. */
function placeOf(number: number): number {
  return (number % blockRecords) * recordBytes
}

/** Returns a range of an index file's bytes as a block: a full block as a view, a shorter block as a copy. */
function blockOf(bytes: Buffer, from: number, to: number): DataView {
  if (to - from === blockBytes) return new DataView(bytes.buffer, bytes.byteOffset + from, blockBytes)
  return new DataView(new Uint8Array(bytes.subarray(from, to)).buffer)
}

/**
 * Counts the records before the first invalid record. Tests the check byte of every record. For each
 * `orderedRecords`th record, also tests that its offset is above the offset of the record before.
 */
function countSound(bytes: Buffer): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const count = countChecked(bytes)
  for (let number = orderedRecords; number < count; number += orderedRecords) {
    const at = number * recordBytes
    if (offsetIn(view, at) <= offsetIn(view, at - recordBytes)) return number
  }
  return count
}

/** Counts the records before the first wrong check byte. */
function countChecked(bytes: Buffer): number {
  // Takes four bytes at a time: their order does not matter to an exclusive-or of all bytes. An Int32Array needs an
  // offset that is a multiple of 4, so bytes at any other offset are copied.
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  const words = new Int32Array(buffer, byteOffset, Math.floor(length / recordBytes) * recordWords)
  for (let at = 0; at < words.length; at += recordWords) {
    const word = (words[at] ?? 0) ^ (words[at + 1] ?? 0) ^ (words[at + 2] ?? 0) ^ (words[at + 3] ?? 0)
    if (folded(word) !== checkSeed) return at / recordWords
  }
  return words.length / recordWords
}

/** Returns the exclusive-or of a word's four bytes. */
function folded(word: number): number {
  const half = word ^ (word >>> 16)
  return (half ^ (half >>> 8)) & 0xff
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function offsetIn(block: DataView, at: number): number {
  return block.getUint16(at + 8) * twoTo32 + block.getUint32(at + 10)
}

function highHalf(upper: string): number {
  return Number.parseInt(upper.slice(0, 8), 16)
}

function lowHalf(upper: string): number {
  return Number.parseInt(upper.slice(8), 16)
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
