/**
 * One hostile request as data, and the words to write one down.
 *
 * `bytes` is sent as it is, one byte for each character. `key` is the session key of the server, `id` a conversation
 * that is there. The expected statuses are the statuses of all answers in order until the server closes the connection.
 * Without any, the server closes it without an answer.
 */

export const key = 'the-key-of-the-tests'
export const id = '0f0e0d0c-0b0a-4909-8807-060504030201'

/**
 * The servers that a row is sent to. `open` asks for no key, `named` goes by agent.example and serves
 * https://app.example.
 */
export type Entrance = 'keyed' | 'open' | 'named' | 'public'

export interface HostileRow {
  readonly kind: string
  readonly what: string
  readonly bytes: string
  readonly statuses: readonly number[]
  readonly entrances: readonly Entrance[]
}

/** The form in which a row is written down. */
export type Shorthand = readonly [what: string, bytes: string, ...statuses: number[]]

export const withKey = `X-Session-API-Key: ${key}`

export function rowsOf(kind: string, entrances: readonly Entrance[], rows: readonly Shorthand[]): HostileRow[] {
  return rows.map(([what, bytes, ...statuses]) => ({ kind, what, bytes, statuses, entrances }))
}

/** A request without a body, to localhost unless a header says otherwise; the connection ends with its answer. */
export function ask(line: string, ...headers: readonly string[]): string {
  return `${line} HTTP/1.1\r\n${headLines(headers)}\r\n`
}

/** A request with a body, which is JSON unless a header says otherwise. */
export function tell(line: string, body: string, ...headers: readonly string[]): string {
  const type = headers.some(isNamed('content-type')) ? [] : ['Content-Type: application/json']
  return `${line} HTTP/1.1\r\n${headLines([...type, `Content-Length: ${body.length}`, ...headers])}\r\n${body}`
}

/** A request to upgrade, right in all that `headers` do not change. */
export function knock(path: string, ...headers: readonly string[]): string {
  const usual = [
    'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]
  const kept = usual.filter((line) => !headers.some(isNamed(line.slice(0, line.indexOf(':')).toLowerCase())))
  return ask(`GET ${path}`, ...kept, ...headers)
}

function headLines(headers: readonly string[]): string {
  const host = headers.some(isNamed('host')) ? [] : ['Host: localhost']
  const connection = headers.some(isNamed('connection')) ? [] : ['Connection: close']
  return [...host, ...connection, ...headers].map((line) => `${line}\r\n`).join('')
}

function isNamed(name: string): (line: string) => boolean {
  return (line) => line.toLowerCase().startsWith(`${name}:`)
}
