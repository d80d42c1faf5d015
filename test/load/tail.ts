/**
 * A reader of a conversation over a raw socket that costs next to nothing, so that fifty of them fit beside a server.
 *
 * It keeps a digest of the ids of the stored events in the order in which they came, and how old each was by the time
 * in it (test/fixtures/busy-agent). `pause` stops reading altogether, as a stalled client does: the system's buffers
 * fill up, then the server's.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

export interface TailOptions {
  readonly url: string
  readonly key: string
  readonly conversationId: string
  readonly transport: 'socket' | 'stream'
}

/** The events that a reader has seen. Two readers of the same events are equal in both members. */
export interface Seen {
  readonly count: number
  readonly digest: string
}

export class Tail {
  readonly #socket: Socket
  readonly #transport: TailOptions['transport']
  readonly #digest = createHash('sha256')
  /** The end of the ids of frames that are only pushed: the end of the conversation's id. */
  readonly #pushed: string
  #count = 0
  #rest: Buffer = Buffer.alloc(0)
  #isHeadRead = false
  /** In milliseconds, as they came. */
  readonly ages: number[] = []
  /** The code of the Close frame; undefined without one. */
  closeCode: number | undefined
  isClosed = false

  constructor({ url, key, conversationId, transport }: TailOptions) {
    const { hostname, port, host } = new URL(url)
    this.#transport = transport
    this.#pushed = conversationId.slice(19)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => (this.isClosed = true))
    const head = [`Host: ${host}`, `X-Session-API-Key: ${key}`]
    if (transport === 'stream') {
      this.#socket.write(
        `GET /api/conversations/${conversationId}/events/stream?resend_mode=all HTTP/1.1\r\n${head.join('\r\n')}\r\n` +
          '\r\n',
      )
    } else {
      head.push(
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      )
      this.#socket.write(
        `GET /sockets/events/${conversationId}?resend_mode=all HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`,
      )
    }
  }

  /** How many bytes of this connection the system holds on either side (proc(5), net/tcp: tx_queue and rx_queue). */
  get heldBySystem(): number {
    const port = `:${(this.#socket.localPort ?? 0).toString(16).toUpperCase().padStart(4, '0')} `
    const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').filter((line) => line.includes(port))
    return lines.flatMap((line) => (/ ([0-9A-F]{8}):([0-9A-F]{8}) /.exec(line) ?? []).slice(1)).reduce(
      (sum, hex) => sum + Number.parseInt(hex, 16), 0,
    )
  }

  get count(): number {
    return this.#count
  }

  get seen(): Seen {
    return { count: this.#count, digest: this.#digest.copy().digest('hex') }
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (!this.#isHeadRead && !this.#readHead()) return
    if (this.#transport === 'socket') while (this.#readFrame());
    else while (this.#readLine());
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end < 0) return false
    this.#rest = this.#rest.subarray(end + 4)
    return (this.#isHeadRead = true)
  }

  #readFrame(): boolean {
    const bytes = this.#rest
    if (bytes.length < 2) return false
    const short = bytes.readUInt8(1)
    const start = short === 126 ? 4 : short === 127 ? 10 : 2
    if (bytes.length < start) return false
    const end = start +
      (short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short)
    if (bytes.length < end) return false
    this.#rest = bytes.subarray(end)
    const opcode = bytes.readUInt8(0) & 0xf
    if (opcode === 1) this.#event(bytes.subarray(start, end))
    // A Ping, answered by a masked Pong without data.
    if (opcode === 9) this.#socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]))
    if (opcode === 8) this.closeCode = bytes.readUInt16BE(start)
    return true
  }

  /** Chunks of HTTP begin and end with lines of their own, which no event looks like; none cuts an event in two. */
  #readLine(): boolean {
    const end = this.#rest.indexOf('\n')
    if (end < 0) return false
    const line = this.#rest.subarray(0, end)
    this.#rest = this.#rest.subarray(end + 1)
    if (line.subarray(0, 6).toString() === 'data: ') this.#event(line.subarray(6))
    return true
  }

  #event(json: Buffer): void {
    const id = idOf(json)
    if (id === undefined || id.subarray(19).toString() === this.#pushed) return
    this.#count++
    this.#digest.update(id)
    const at = json.indexOf('at<')
    if (at < 0) return
    const written = BigInt(json.toString('latin1', at + 3, json.indexOf('>', at)))
    this.ages.push(Number(process.hrtime.bigint() - written) / 1e6)
  }
}

const idStart = Buffer.from('"id":"')
const fullState = Buffer.from('"key":"full_state"')

/** Of a stored event; undefined for a frame that is none. */
function idOf(json: Buffer): Buffer | undefined {
  if (json.subarray(0, 512).includes(fullState) || json.subarray(0, 32).includes('StreamingDelta')) return undefined
  const start = json.indexOf(idStart) + idStart.length
  return json.subarray(start, start + 36)
}

/** Returns the events that a reader of the whole log has seen. */
export function seenInLog(log: Buffer): Seen {
  const digest = createHash('sha256')
  let count = 0
  for (let start = 0, end = log.indexOf(10); end >= 0; start = end + 1, end = log.indexOf(10, start)) {
    const line = log.subarray(start + 33, end)
    if (line.subarray(0, 7).toString() !== '{"kind"') continue
    const id = idOf(line)
    if (id === undefined) continue
    digest.update(id)
    count++
  }
  return { count, digest: digest.digest('hex') }
}
