/**
 * Parses server-sent events (WHATWG HTML, section 9.2.6 "Interpreting an event stream").
 *
 * `push` takes bytes as they arrive and returns whole events. A chunk may end anywhere, even within a character. With
 * `lastEventId` and `retryMs` the caller can resume a broken stream.
 */
import { AppError } from '../../base/errors.ts'

export interface ServerSentEvent {
  /** The type of the event: `message` unless the stream names another type. */
  readonly type: string
  readonly data: string
}

export interface EventParserOptions {
  /** The most characters in the lines of an event, without line ends. Default 16,777,216. */
  readonly limitChars?: number
  /** The last event id of the broken stream that this stream resumes. Default: empty. */
  readonly lastEventId?: string
}

export class EventParser {
  readonly #limitChars: number
  /** Removes a byte order mark at the beginning, as the standard requires. */
  readonly #decoder = new TextDecoder()
  #line = ''
  #endedWithReturn = false
  #type = ''
  #data: string[] = []
  #sizeChars = 0
  #id: string
  #lastEventId: string
  #retryMs: number | undefined

  constructor({ limitChars = 16 * 1024 * 1024, lastEventId = '' }: EventParserOptions = {}) {
    this.#limitChars = limitChars
    this.#id = lastEventId
    this.#lastEventId = lastEventId
  }

  /** The newest event id, of this stream or of the stream that it resumes; empty without an id. */
  get lastEventId(): string {
    return this.#lastEventId
  }

  /** The time, in milliseconds, to wait before reconnecting; undefined if the stream has sent none. */
  get retryMs(): number | undefined {
    return this.#retryMs
  }

  /** Returns the events that the chunk completes. @throws AppError `upstream_failed` for an event above the limit */
  push(chunk: Uint8Array): ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    const text = this.#decoder.decode(chunk, { stream: true })
    if (text === '') return events
    const lineEnd = /\r\n|\r|\n/g
    let start = this.#endedWithReturn && text.startsWith('\n') ? 1 : 0
    lineEnd.lastIndex = start
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      this.#grow(text.slice(start, end.index))
      start = lineEnd.lastIndex
      const event = this.#takeLine()
      if (event !== undefined) events.push(event)
    }
    this.#grow(text.slice(start))
    this.#endedWithReturn = text.endsWith('\r')
    return events
  }

  #grow(text: string): void {
    this.#line += text
    this.#sizeChars += text.length
    if (this.#sizeChars <= this.#limitChars) return
    const problem = `expected events of at most ${this.#limitChars} characters`
    throw new AppError('upstream_failed', `Could not read an event stream: ${problem}`)
  }

  #takeLine(): ServerSentEvent | undefined {
    const { name, value } = splitLine(this.#line)
    this.#line = ''
    if (name === 'data') this.#data.push(value)
    else if (name === 'event') this.#type = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
    else if (name === '') return this.#takeEvent()
    return undefined
  }

  #takeEvent(): ServerSentEvent | undefined {
    this.#lastEventId = this.#id
    const type = this.#type === '' ? 'message' : this.#type
    const event = this.#data.length === 0 ? undefined : { type, data: this.#data.join('\n') }
    this.#type = ''
    this.#data = []
    this.#sizeChars = 0
    return event
  }
}

/** Splits a line into name and value. A blank line has the name '', a comment the name ':'. */
function splitLine(line: string): { readonly name: string; readonly value: string } {
  const colon = line.indexOf(':')
  if (colon === 0) return { name: ':', value: '' }
  if (colon === -1) return { name: line, value: '' }
  return { name: line.slice(0, colon), value: line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1)) }
}
