/**
 * JSON-RPC over a pair of streams, one JSON text per line: the stdio framing of ACP and MCP. Chromium's debugging pipe
 * uses NUL in place of the newline.
 *
 * A line that nests too deep, or is neither JSON nor blank, is reported to `onNoise` and skipped. A line that is too
 * long or has too many values ends the framing. `send` fails when too many bytes wait to be written.
 */
import type { Readable, Writable } from 'node:stream'
import { messageOf } from '../base/errors.ts'
import { parseJson, TooManyValuesError } from '../base/json.ts'
import { parseJsonBytes, turnBytes } from '../base/json-turns.ts'
import { RpcClosedError, RpcLimitError } from './errors.ts'
import type { Framing, FramingHandlers } from './peer.ts'

export interface LineFramingOptions {
  readonly input: Readable
  readonly output: Writable
  /** The character after each JSON text. Default: a newline. */
  readonly terminator?: '\n' | '\0'
  /** The longest line, in bytes without its terminator. Default 16 MiB. */
  readonly lineLimitBytes?: number | undefined
  /** The most JSON values in one line. Default 50,000. */
  readonly valueLimit?: number | undefined
  /** The most bytes that may wait to be written. Default 100 MiB. */
  readonly queueLimitBytes?: number
}

const usualLineBytes = 16 * 1024 * 1024
const usualQueueBytes = 100 * 1024 * 1024
const excerptLength = 200
const noBytes = Buffer.alloc(0)
/** Matches the beginning of every JSON text, and of some other lines. A line that does not match is no JSON. */
const mayBeJson = /^(?:[\s{["\-\d]|true|false|null)/

export class LineFraming implements Framing {
  readonly #input: Readable
  readonly #output: Writable
  readonly #terminator: '\n' | '\0'
  /** The terminator as a byte, for a faster search. */
  readonly #terminatorByte: number
  readonly #lineLimitBytes: number
  readonly #queueLimitBytes: number
  readonly #valueLimit: number | undefined
  #handlers: FramingHandlers | undefined
  /** The beginning of an incomplete line, in the first `#partBytes` of this buffer. */
  #part = noBytes
  #partBytes = 0
  /** Whole lines. The lines from `#offset` on wait for delivery. */
  #block = ''
  #offset = 0
  /** The lines after `#block`. An item is one line of more than `turnBytes` as bytes, or shorter lines as one text. */
  readonly #later: (Buffer | string)[] = []
  /** True while a long line is being parsed, or waits to be handed over. */
  #isParsing = false
  /** Delivers the parsed long line; undefined when no long line is ready. */
  #handOver: (() => void) | undefined
  #state: 'open' | 'ended' | 'closed' = 'open'
  /** The number of sent bytes that the operating system has not taken yet. */
  #waitingBytes = 0
  #paused = false
  #delivering = false

  constructor(options: LineFramingOptions) {
    this.#input = options.input
    this.#output = options.output
    this.#terminator = options.terminator ?? '\n'
    this.#terminatorByte = this.#terminator.charCodeAt(0)
    this.#lineLimitBytes = options.lineLimitBytes ?? usualLineBytes
    this.#queueLimitBytes = options.queueLimitBytes ?? usualQueueBytes
    this.#valueLimit = options.valueLimit
  }

  start(handlers: FramingHandlers): void {
    if (this.#handlers !== undefined) throw new TypeError('Cannot start a framing twice')
    this.#handlers = handlers
    // The error listeners stay after `close`: a late error without a listener would end the process. An error of the
    // output does not end reading, because the last lines of a dead peer may still be unread.
    this.#output.on('error', ignore)
    this.#input.on('error', this.#fail)
    this.#input.on('end', this.#onEnd)
    this.#input.on('close', this.#onEnd)
    this.#input.on('data', this.#onData)
  }

  send(value: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#state === 'closed') return reject(new RpcClosedError('Cannot send a message: the connection is closed'))
      const line = `${JSON.stringify(value)}${this.#terminator}`
      const length = Buffer.byteLength(line)
      const waiting = this.#waitingBytes + length
      if (waiting > this.#queueLimitBytes) {
        const limit = this.#queueLimitBytes
        return reject(new RpcLimitError(`Cannot send a message: ${waiting} bytes would wait, the limit is ${limit}`))
      }
      this.#waitingBytes = waiting
      this.#output.write(line, (error) => {
        this.#waitingBytes -= length
        if (error) reject(new RpcClosedError(`Cannot send a message: ${messageOf(error)}`, { cause: error }))
        else resolve()
      })
    })
  }

  /** Stops delivery. The stream itself is paused when its next bytes come. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (this.#state === 'closed') return
    this.#paused = false
    this.#goOn()
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#part = noBytes
    this.#block = ''
    this.#later.length = 0
    this.#input.off('data', this.#onData)
    this.#input.off('end', this.#onEnd)
    this.#input.off('close', this.#onEnd)
    this.#input.pause()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#paused || this.#isParsing) this.#input.pause()
    const first = chunk.indexOf(this.#terminatorByte)
    if (this.#partBytes + (first === -1 ? chunk.length : first) > this.#lineLimitBytes) return this.#failTooLong()
    if (first === -1) return this.#keep(chunk)
    const start = this.#partBytes > 0 ? first + 1 : 0
    const end = chunk.lastIndexOf(this.#terminatorByte) + 1
    if (start > 0) this.#takePart(chunk.subarray(0, start))
    this.#takeLines(chunk.toString('utf8', start, end))
    if (this.#state === 'open' && end < chunk.length) this.#keep(chunk.subarray(end))
  }

  /** Appends bytes to the incomplete line. The buffer doubles, so the time is linear in the bytes. */
  #keep(bytes: Buffer): void {
    const needed = this.#partBytes + bytes.length
    if (needed > this.#part.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * this.#part.length, this.#lineLimitBytes)))
      this.#part.copy(grown, 0, 0, this.#partBytes)
      this.#part = grown
    }
    bytes.copy(this.#part, this.#partBytes)
    this.#partBytes = needed
  }

  /** Completes the incomplete line with its last bytes, terminator included, and queues the line. */
  #takePart(end: Buffer): void {
    this.#keep(end)
    const line = this.#part.subarray(0, this.#partBytes)
    this.#part = noBytes
    this.#partBytes = 0
    if (line.length <= turnBytes) return this.#takeLines(line.toString('utf8'))
    this.#later.push(line.subarray(0, -1))
    this.#deliver()
  }

  /** Queues whole lines with their terminators, and delivers them if possible. */
  #takeLines(lines: string): void {
    // An empty text in `#later` would end the loop in `#deliver` before the lines behind it.
    if (this.#state === 'closed' || lines === '') return
    if (this.#later.length > 0 || this.#isParsing) {
      this.#later.push(lines)
    } else {
      // After a pause the block may still have lines, which come before the new lines.
      this.#block = this.#block.slice(this.#offset) + lines
      this.#offset = 0
    }
    this.#deliver()
  }

  readonly #onEnd = (): void => {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    if (this.#partBytes > 0) this.#takePart(Buffer.from(this.#terminator))
    else this.#deliver()
  }

  /** Delivers waiting lines until no line is left or delivery has to wait. */
  #deliver(): void {
    if (this.#delivering) return
    this.#delivering = true
    if (!this.#paused) this.#handOver?.()
    while (!this.#paused && !this.#isParsing && this.#hasMore()) {
      const end = this.#block.indexOf(this.#terminator, this.#offset)
      const line = this.#block.slice(this.#offset, end)
      this.#offset = end + 1
      this.#deliverLine(line)
    }
    this.#delivering = false
    if (this.#paused || this.#isParsing) return
    if (this.#state === 'ended') this.#finish(undefined)
  }

  /** If `#block` is used up, fills it with short lines or starts to parse a long line. True if it then has a line. */
  #hasMore(): boolean {
    if (this.#offset < this.#block.length) return true
    const next = this.#later.shift() ?? ''
    this.#block = typeof next === 'string' ? next : ''
    this.#offset = 0
    if (typeof next !== 'string') void this.#deliverLong(next)
    return this.#block !== ''
  }

  /** Delivers waiting lines, then resumes reading unless delivery has to wait. */
  #goOn(): void {
    this.#deliver()
    if (!this.#paused && !this.#isParsing && this.#state === 'open') this.#input.resume()
  }

  async #deliverLong(line: Buffer): Promise<void> {
    this.#isParsing = true
    const parsed = await parsedLong(line, this.#valueLimit)
    if (this.#state === 'closed') return
    this.#handOver = () => {
      this.#isParsing = false
      this.#handOver = undefined
      if (parsed.ok) this.#handlers?.onMessage(parsed.value)
      else this.#refuse(parsed.error, line.toString('utf8', 0, excerptLength))
    }
    this.#goOn()
  }

  #deliverLine(line: string): void {
    // A UTF-16 unit takes at most three bytes of UTF-8, so the bytes of a short line are not counted.
    const limit = this.#lineLimitBytes
    if (line.length * 3 > limit && Buffer.byteLength(line) > limit) return this.#failTooLong()
    // This test is much faster than an exception of the parser.
    if (!mayBeJson.test(line)) return this.#refuse(undefined, line)
    let value: unknown
    try {
      value = parseJson(line, this.#valueLimit)
    } catch (error) {
      return this.#refuse(error, line)
    }
    this.#handlers?.onMessage(value)
  }

  #refuse(error: unknown, line: string): void {
    if (error instanceof TooManyValuesError) {
      return this.#finish(new RpcLimitError(`Cannot read a line: ${error.message}`))
    }
    if (line.trim() !== '') this.#handlers?.onNoise(excerptOf(line))
  }

  readonly #fail = (error: Error): void => this.#finish(error)

  #failTooLong(): void {
    this.#finish(new RpcLimitError(`Cannot read a line of more than ${this.#lineLimitBytes} bytes`))
  }

  #finish(error: Error | undefined): void {
    if (this.#state === 'closed') return
    this.close()
    this.#handlers?.onClosed(error)
  }
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }

async function parsedLong(line: Buffer, valueLimit: number | undefined): Promise<Parsed> {
  try {
    return { ok: true, value: await parseJsonBytes(line, valueLimit) }
  } catch (error) {
    return { ok: false, error }
  }
}

/** Returns the beginning of a line, with control and invisible characters replaced. */
function excerptOf(line: string): string {
  return line.slice(0, excerptLength).replace(/\p{C}/gu, '?')
}

function ignore(): void {}
