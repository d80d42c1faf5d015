/**
 * A range of a text file's lines, read without holding the file: for what is too large to be read whole.
 *
 * The file is UTF-8; anything else, and what holds a NUL, is refused as soon as it is met. Reading ends with the range, so
 * the first lines of a huge file cost nothing. The result has a limit in characters: a longer line is cut, and what
 * comes after is left out.
 */
import { TextDecoder } from 'node:util'
import { AppError } from '../../../base/errors.ts'
import { openFile } from '../../../workspace/files.ts'
import { pathError, type ContainedPath } from '../../../workspace/paths.ts'

const chunkBytes = 256 * 1024

export interface LineRange {
  /** From 1. */
  readonly first: number
  /** Infinity: to the end. */
  readonly last: number
}

export interface Lines {
  readonly lines: readonly string[]
  /** Whether the limit cut them short. */
  readonly isCut: boolean
  /** Lines of the file, where its end was reached. */
  readonly total: number | undefined
}

/** @throws AppError `invalid_input` for what is no text; the signal's reason */
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

/** The lines of a text that is at hand. The part behind the last line end is a line unless it is empty. */
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

/** An empty chunk is the end. @throws TypeError for what is no text */
function decode(decoder: TextDecoder, chunk: Buffer): string {
  if (chunk.includes(0)) throw new TypeError('A text holds no NUL')
  return decoder.decode(chunk, { stream: chunk.length > 0 })
}

class LineCollector {
  readonly #range: LineRange
  readonly #lines: string[] = []
  #room: number
  /** The number of the line that is being read, and what of it is kept. */
  #number = 1
  #line = ''
  #hasLine = false
  #isCut = false

  constructor(range: LineRange, limitChars: number) {
    this.#range = range
    this.#room = limitChars
  }

  get isDone(): boolean {
    return this.#number > this.#range.last || this.#room <= 0
  }

  add(text: string): void {
    for (let at = 0; at < text.length && !this.isDone;) {
      const end = text.indexOf('\n', at)
      this.#extend(text.slice(at, end < 0 ? text.length : end))
      if (end < 0) return
      this.#finishLine()
      at = end + 1
    }
  }

  /** The file ends here. */
  end(): Lines {
    const total = this.#number - 1 + (this.#hasLine ? 1 : 0)
    const reached = !this.isDone
    if (this.#hasLine) this.#finishLine()
    return { ...this.result(), total: reached ? total : undefined }
  }

  result(): Lines {
    if (this.#room <= 0 && this.#number <= this.#range.last) this.#isCut = true
    if (this.#line !== '') this.#finishLine()
    return { lines: this.#lines, isCut: this.#isCut, total: undefined }
  }

  #extend(part: string): void {
    this.#hasLine = true
    if (this.#number < this.#range.first) return
    if (part.length > this.#room) this.#isCut = true
    this.#line += part.slice(0, this.#room)
    this.#room -= part.length
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
