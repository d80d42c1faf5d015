/**
 * Server-sent events, as a client reads them (WHATWG HTML, section 9.2.6 "Interpreting an event stream").
 *
 * Bytes go in as they come, whole events come out. Lines end with CR, LF or CRLF, and a chunk may end anywhere, within a
 * character too. An event at the end of a stream that no blank line follows is not one. The id and the retry time are kept
 * for who takes a broken stream up again.
 */
import { AppError } from '../base/errors.ts'

export interface ServerSentEvent {
  /** `message` unless the stream names another. */
  readonly type: string
  readonly data: string
}

export interface EventParser {
  /** @throws AppError `upstream_failed` when an event is longer than the limit. */
  push(chunk: Uint8Array): ServerSentEvent[]
  /** Of the newest event that has one or that came after one which has; empty at the beginning. */
  readonly lastEventId: string
  /** How long to wait before the stream is asked for again, if it says so. */
  readonly retryMs: number | undefined
}

export interface EventParserOptions {
  /** How long a single event may be. */
  readonly limitChars?: number
}

export function createEventParser({ limitChars = 16 * 1024 * 1024 }: EventParserOptions = {}): EventParser {
  // It takes a byte order mark away, as the standard wants.
  const decoder = new TextDecoder()
  let line = ''
  let endedWithReturn = false
  let type = ''
  let data: string[] = []
  let sizeChars = 0
  let id = ''
  let lastEventId = ''
  let retryMs: number | undefined

  const takeLine = (): ServerSentEvent | undefined => {
    const { name, value } = splitLine(line)
    line = ''
    if (name === 'data') data.push(value)
    else if (name === 'event') type = value
    else if (name === 'id' && !value.includes('\0')) id = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    else if (name === '') return takeEvent()
    return undefined
  }
  const takeEvent = (): ServerSentEvent | undefined => {
    lastEventId = id
    const event = data.length === 0 ? undefined : { type: type === '' ? 'message' : type, data: data.join('\n') }
    type = ''
    data = []
    sizeChars = 0
    return event
  }
  const grow = (text: string): void => {
    line += text
    sizeChars += text.length
    if (sizeChars <= limitChars) return
    throw new AppError('upstream_failed', `Could not read an event stream: expected events of at most ${limitChars} characters`)
  }

  return {
    get lastEventId() {
      return lastEventId
    },
    get retryMs() {
      return retryMs
    },
    push(chunk) {
      const events: ServerSentEvent[] = []
      const text = decoder.decode(chunk, { stream: true })
      if (text === '') return events
      const lineEnd = /\r\n|\r|\n/g
      let start = endedWithReturn && text.startsWith('\n') ? 1 : 0
      lineEnd.lastIndex = start
      for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
        grow(text.slice(start, end.index))
        start = lineEnd.lastIndex
        const event = takeLine()
        if (event !== undefined) events.push(event)
      }
      grow(text.slice(start))
      endedWithReturn = text.endsWith('\r')
      return events
    },
  }
}

/** A blank line has the name ''; a comment has the name ':', which no field has. */
function splitLine(line: string): { readonly name: string; readonly value: string } {
  const colon = line.indexOf(':')
  if (colon === 0) return { name: ':', value: '' }
  if (colon === -1) return { name: line, value: '' }
  return { name: line.slice(0, colon), value: line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1)) }
}
