/**
 * A client that writes bytes as they are and collects the answers: for requests no decent client would send.
 *
 * `exchange` writes the pieces one after the other and resolves when the server has closed the connection; `open` gives
 * a connection whose incoming text can be waited for. Neither parses HTTP beyond cutting answers apart by their length.
 */
import { connect, type Socket } from 'node:net'

export interface RawConnection {
  readonly socket: Socket
  /** All that has come so far. */
  text(): string
  /** Resolves with all that has come as soon as it satisfies `test`; rejects when the connection closes before that. */
  until(test: (text: string) => boolean): Promise<string>
  /** Resolves with all that has come when the connection is closed. */
  closed(): Promise<string>
}

export function open(port: number): RawConnection {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let isClosed = false
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const check of waiting) check()
  }
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    look()
  })
  // A reset is one of the ways in which the server may close; the bytes before it count.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    look()
  })
  const wait = (done: () => boolean, orElse: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (done()) resolve(text)
        else if (orElse()) reject(new Error(`closed after ${JSON.stringify(text.slice(0, 500))}`))
        else return
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })
  return {
    socket,
    text: () => text,
    until: (test) => wait(() => test(text), () => isClosed),
    closed: () => wait(() => isClosed, () => false),
  }
}

export function exchange(port: number, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const connection = open(port)
  for (const piece of pieces) connection.socket.write(piece)
  return connection.closed()
}

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Cuts a text into answers; each must have a Content-Length, or no body. */
export function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`no end of headers in ${JSON.stringify(rest.slice(0, 500))}`)
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers['content-length'] ?? 0)
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

/** The status codes of every answer in a text, in order. */
export function statuses(text: string): number[] {
  return parseAnswers(text).map((answer) => answer.status)
}
