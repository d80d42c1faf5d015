/**
 * Reads a range of lines from a large text file.
 *
 * The file must be UTF-8 without NUL. Reading stops at the end of the range, or when the range has more than
 * `limitChars` characters. The last line can then be cut.
 */
import { TextDecoder } from 'node:util'
import { AppError } from '../../../base/errors.ts'
import { openFile } from '../../workspace-files/files.ts'
import { pathError, type ContainedPath } from '../../workspace-files/paths.ts'

const chunkBytes = 256 * 1024

export interface LineRange {
  /** The first line, from 1. */
  readonly first: number
  /** The last line, included; Infinity for the end of the file. */
  readonly last: number
}

export interface Lines {
  readonly lines: readonly string[]
  /** True when the range has more text than the limit allows. */
  readonly isCut: boolean
  /** The number of lines in the file; undefined when its end was not reached. */
  readonly total: number | undefined
}

/** Reads the lines of a range. @throws AppError for a file that is no text or cannot be read; the signal's reason */
export async function readLines(
  place: ContainedPath,
  range: LineRange,
  options: { readonly limitChars: number; readonly signal: AbortSignal },
): Promise<Lines> {
  const handle = await openFile(place)
  const collector = new LineCollector(range, options.limitChars)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const buffer = Buffer.allocUnsafe(chunkBytes)
  try {
    for (let position = 0; !collector.isDone;) {
      options.signal.throwIfAborted()
      const { bytesRead } = await handle.read({ buffer, position })
      position += bytesRead
      collector.add(decode(decoder, buffer.subarray(0, bytesRead)))
      if (bytesRead === 0) return collector.end()
    }
    return collector.result()
  } catch (thrown) {
    throw thrown instanceof TypeError ? notText(place) : pathError(place.path, thrown)
  } finally {
    await handle.close()
  }
}

export function notText(place: ContainedPath): AppError {
  return new AppError('invalid_input', `Cannot show or edit "${place.path}": it is not a text file`)
}

/** Returns a range of lines, at most `limitChars` characters. A line end at the end of the text begins no new line. */
export function pickLines(text: string, range: LineRange, limitChars: number): Lines {
  const collector = new LineCollector(range, limitChars)
  collector.add(text)
  return { ...collector.end(), total: countLines(text) }
}

export function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return text === '' || text.endsWith('\n') ? lines : lines + 1
}

/** Decodes a chunk. An empty chunk ends the text. @throws TypeError for a NUL, and for bytes that are not UTF-8 */
function decode(decoder: TextDecoder, chunk: Buffer): string {
  if (chunk.includes(0)) throw new TypeError('A text holds no NUL')
  return decoder.decode(chunk, { stream: chunk.length > 0 })
}

class LineCollector {
  readonly #range: LineRange
  readonly #lines: string[] = []
  /** How many characters still fit; a collected line end counts as one. At -1, not even an empty line fits. */
  #room: number
  /** The number of the current line, from 1. */
  #number = 1
  /** The text of the current line so far, cut to `#room`; empty for a line before the range. */
  #line = ''
  #hasLine = false
  #isCut = false

  constructor(range: LineRange, limitChars: number) {
    this.#range = range
    this.#room = limitChars
  }

  get isDone(): boolean {
    return this.#number > this.#range.last || this.#isCut
  }

  add(text: string): void {
    for (let at = 0; at < text.length && !this.isDone;) {
      const end = text.indexOf('\n', at)
      this.#extend(text.slice(at, end < 0 ? text.length : end))
      if (end < 0 || this.#isCut) return
      this.#finishLine()
      at = end + 1
    }
  }

  /** Returns the collected lines when the text has ended. `total` is undefined if the range or limit ended earlier. */
  end(): Lines {
    const total = this.#number - 1 + (this.#hasLine ? 1 : 0)
    const reached = !this.isDone
    return { ...this.result(), total: reached ? total : undefined }
  }

  result(): Lines {
    if (this.#line !== '') this.#finishLine()
    return { lines: this.#lines, isCut: this.#isCut, total: undefined }
  }

  #extend(part: string): void {
    this.#hasLine = true
    if (this.#number < this.#range.first) return
    if (part.length > this.#room) this.#isCut = true
    const fitting = part.slice(0, Math.max(0, this.#room))
    this.#line += fitting
    this.#room -= fitting.length
  }

  #finishLine(): void {
    if (this.#number >= this.#range.first && this.#number <= this.#range.last) {
      this.#lines.push(this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line)
      this.#room--
    }
    this.#number++
    this.#line = ''
    this.#hasLine = false
  }
}
