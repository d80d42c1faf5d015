/**
 * A small WebSocket client for tests, because Node 20 has none.
 *
 * Written from RFC 6455 alone and without a line of src/ws, so that it is a second opinion: it refuses every frame that
 * a server must not send (masked or fragmented frames, reserved bits, wrong accept key, bad UTF-8). Simple rather than
 * fast, and for text messages only, since this product sends no others. permessage-deflate is used if `headers` offer
 * it. It answers Pings and Close by itself; `write` sends any bytes, to break rules.
 */
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { constants, inflateRawSync } from 'node:zlib'

export interface Close {
  /** 1005 when the Close frame had no code, 1006 when there was no Close frame. */
  readonly code: number
  readonly reason: string
}

/** The server answered the upgrade with an ordinary response. */
export class Refused extends Error {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string

  constructor(status: number, headers: IncomingHttpHeaders, body: string) {
    super(`Upgrade refused with ${status}: ${body}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** `url` begins with `ws:` or `http:`. Rejects with `Refused`, or with the error of the connection. */
export function connect(url: string, headers: OutgoingHttpHeaders = {}): Promise<Client> {
  const key = randomBytes(16).toString('base64')
  const handshake = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': key,
  }
  return new Promise((resolve, reject) => {
    const opening = request(url.replace(/^ws:/, 'http:'), { headers: { ...handshake, ...headers }, agent: false })
    opening.on('error', reject)
    opening.on('response', (response) => void readRefusal(response).then(reject, reject))
    opening.on('upgrade', (response, socket, head) => {
      const wrong = whatIsWrong(response.headers, key, headers)
      if (wrong === undefined) return resolve(new Client(response, socket, head))
      socket.destroy()
      reject(new Error(wrong))
    })
    opening.end()
  })
}

/** RFC 6455, section 4.1, the steps after the request. */
function whatIsWrong(answer: IncomingHttpHeaders, key: string, asked: OutgoingHttpHeaders): string | undefined {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const offered = String(asked['Sec-WebSocket-Extensions'] ?? '').split(/[,;]/).map((part) => part.trim())
  const extensions = String(answer['sec-websocket-extensions'] ?? '').split(',').map((part) => {
    return part.split(';')[0]?.trim() ?? ''
  })
  const connection = String(answer.connection).toLowerCase().split(/\s*,\s*/)
  if (answer.upgrade?.toLowerCase() !== 'websocket') return 'The server did not upgrade to websocket'
  if (!connection.includes('upgrade')) return 'The server did not upgrade the connection'
  if (answer['sec-websocket-accept']?.trim() !== accept) return 'The server did not prove that it read the key'
  if (extensions.some((name) => name !== '' && !offered.includes(name))) {
    return 'The server uses an extension that was not offered'
  }
  if (answer['sec-websocket-protocol'] !== undefined) return 'The server uses a subprotocol that was not offered'
  return undefined
}

async function readRefusal(response: IncomingMessage): Promise<Refused> {
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += String(chunk)
  return new Refused(response.statusCode ?? 0, response.headers, body)
}

export class Client {
  /** Every message so far, in order. */
  readonly messages: string[] = []
  /** The payload of every Pong so far. */
  readonly pongs: string[] = []
  /** How many Pings the server has sent. */
  pings = 0
  /** How many of the messages came compressed. */
  compressed = 0
  /** Resolves when the connection is gone; rejects when the server broke a rule. */
  readonly closed: Promise<Close>
  /** Of the server's 101 response. */
  readonly headers: IncomingHttpHeaders
  readonly socket: Duplex
  #taken = 0
  #bytes: Buffer
  #close: Close = { code: 1006, reason: '' }
  #hasSentClose = false
  #failure: Error | undefined
  #wake: () => void = () => undefined

  constructor(response: IncomingMessage, socket: Duplex, head: Buffer) {
    this.headers = response.headers
    this.socket = socket
    this.#bytes = head
    this.closed = new Promise((resolve, reject) => {
      socket.on('close', () => {
        if (this.#failure === undefined) resolve(this.#close)
        else reject(this.#failure)
        this.#wake()
      })
    })
    this.closed.catch(() => undefined)
    // A reset is an end like any other here: only a Close frame before it makes a difference.
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.end())
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#receive(Buffer.alloc(0))
  }

  /** The next message that `next` has not given yet; rejects when the connection ends before there is one. */
  async next(): Promise<string> {
    await this.until(() => this.messages.length > this.#taken)
    return this.messages[this.#taken++] ?? ''
  }

  /** Waits until `condition` holds, which is tried after everything that arrives. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.socket.destroyed) {
        const { code, reason } = await this.closed
        throw new Error(`The connection is closed: ${code} ${reason}`)
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  send(text: string): void {
    this.write(frame(0x1, Buffer.from(text)))
  }

  ping(data = ''): void {
    this.write(frame(0x9, Buffer.from(data)))
  }

  /** Sends bytes as they are. */
  write(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  /** Begins the close handshake and waits for its end. */
  close(code?: number, reason = ''): Promise<Close> {
    this.#sendClose(code, reason)
    return this.closed
  }

  /** Ends without a word. */
  destroy(): void {
    this.socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    try {
      while (this.#readFrame());
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error))
      this.socket.destroy()
    }
    this.#wake()
  }

  #readFrame(): boolean {
    const bytes = this.#bytes
    if (bytes.length < 2) return false
    const first = bytes.readUInt8(0)
    const second = bytes.readUInt8(1)
    const fieldLength = second === 126 ? 2 : second === 127 ? 8 : 0
    if (bytes.length < 2 + fieldLength) return false
    const length =
      fieldLength === 2 ? bytes.readUInt16BE(2) : fieldLength === 8 ? Number(bytes.readBigUInt64BE(2)) : second
    expect(second < 128, 'a frame of the server is masked')
    expect(fieldLength === 0 || length >= (fieldLength === 2 ? 126 : 65_536), 'a payload length is not minimal')
    const end = 2 + fieldLength + length
    if (bytes.length < end) return false
    this.#bytes = bytes.subarray(end)
    this.#take(first, bytes.subarray(2 + fieldLength, end))
    return true
  }

  #take(first: number, payload: Buffer): void {
    expect(this.#close.code === 1006, 'a frame follows the Close frame')
    expect((first & 0x08) === 0 || payload.length <= 125, 'a control frame has more than 125 bytes')
    if (first === 0x88) return this.#takeClose(payload)
    if (first === 0x89) {
      this.pings++
      return this.write(frame(0xa, payload))
    }
    if (first === 0x8a) return void this.pongs.push(payload.toString())
    const mayCompress = String(this.headers['sec-websocket-extensions'] ?? '').startsWith('permessage-deflate')
    expect(first === 0x81 || (first === 0xc1 && mayCompress), `unexpected first byte ${first.toString(16)}`)
    if (first === 0xc1) this.compressed++
    const data = first === 0xc1 ? inflate(payload) : payload
    this.messages.push(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data))
  }

  #takeClose(payload: Buffer): void {
    expect(payload.length !== 1, 'a Close frame has one byte')
    const code = payload.length === 0 ? 1005 : payload.readUInt16BE(0)
    const mayBeSent = code < 1004 || (code > 1006 && code < 1015) || code >= 3000
    expect(
      payload.length === 0 || (code >= 1000 && code < 5000 && mayBeSent), `the close code ${code} must not be sent`,
    )
    this.#close = {
      code, reason: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload.subarray(2)),
    }
    this.#sendClose(payload.length === 0 ? undefined : code, '')
  }

  #sendClose(code: number | undefined, reason: string): void {
    if (this.#hasSentClose || this.socket.destroyed) return
    this.#hasSentClose = true
    const payload = code === undefined ? Buffer.alloc(0) : Buffer.from([code >> 8, code & 0xff, ...Buffer.from(reason)])
    this.write(frame(0x8, payload))
  }
}

export interface FrameOptions {
  readonly final?: boolean
  /** RSV1-3 as they stand in the first byte. */
  readonly reserved?: number
  readonly masked?: boolean
  /** Bytes of the extended length, to send one that is not minimal. */
  readonly lengthBytes?: 0 | 2 | 8
  /** Four bytes, for tests that a seed has to repeat; random without it. */
  readonly key?: Buffer
}

/** A frame as a client sends it; every rule can be broken. */
export function frame(opcode: number, payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const { final = true, reserved = 0, masked = true } = options
  const length = payload.length
  const lengthBytes = options.lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
  const extended = Buffer.alloc(8)
  extended.writeBigUInt64BE(BigInt(length))
  const head = [
    (final ? 0x80 : 0) | reserved | opcode,
    (masked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127),
  ]
  const key = masked ? (options.key ?? randomBytes(4)) : Buffer.alloc(4)
  const body = Buffer.from(payload)
  for (const [index, byte] of body.entries()) body[index] = byte ^ key.readUInt8(index % 4)
  return Buffer.concat([Buffer.from(head), extended.subarray(8 - lengthBytes), masked ? key : Buffer.alloc(0), body])
}

function inflate(payload: Buffer): Buffer {
  return inflateRawSync(Buffer.concat([payload, Buffer.from([0, 0, 0xff, 0xff])]), {
    finishFlush: constants.Z_SYNC_FLUSH,
  })
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`The server broke a rule: ${otherwise}`)
}
