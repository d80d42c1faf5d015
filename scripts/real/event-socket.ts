/**
 * Reads a conversation's events from its WebSocket, with nothing but node:http.
 *
 * A second, independent reader of RFC 6455 beside the server's own code: the opening handshake, text frames whole or
 * in fragments, pings (answered) and the end. It sends no messages and offers no extension. Aborting `signal`, or
 * leaving the loop, closes the connection.
 */
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { addAbortSignal, type Duplex } from 'node:stream'

export interface EventSocketOptions {
  /** http address of the socket's path. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Gives each text message, parsed. Ends when the server closes. */
export async function* readEventSocket(options: EventSocketOptions): AsyncGenerator<unknown> {
  const socket = await openSocket(options)
  addAbortSignal(options.signal, socket)
  let text = Buffer.alloc(0)
  for await (const { final, opcode, payload } of readFrames(socket)) {
    if (opcode === opcodes.close) return
    if (opcode === opcodes.ping) socket.write(maskedFrame(opcodes.pong, payload))
    if (opcode !== opcodes.text && opcode !== opcodes.continuation) continue
    text = Buffer.concat([text, payload])
    if (!final) continue
    yield JSON.parse(text.toString())
    text = Buffer.alloc(0)
  }
}

const opcodes = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const

interface Frame {
  readonly final: boolean
  readonly opcode: number
  readonly payload: Buffer
}

function openSocket({ url, headers, signal }: EventSocketOptions): Promise<Duplex> {
  const key = randomBytes(16).toString('base64')
  // RFC 6455, section 1.3.
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const upgrade = {
    connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key,
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...headers, ...upgrade }, signal })
    sent.once('error', reject)
    sent.once('response', ({ statusCode }) => reject(new Error(`Cannot open ${url}: status ${statusCode}`)))
    sent.once('upgrade', (response, socket, head) => {
      // The bytes that came in the same packet as the answer.
      if (head.length > 0) socket.unshift(head)
      if (response.headers['sec-websocket-accept'] === accept) return resolve(socket)
      socket.destroy()
      reject(new Error(`Cannot open ${url}: the server's accept key is wrong`))
    })
    sent.end()
  })
}

async function* readFrames(socket: Duplex): AsyncGenerator<Frame> {
  let buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    buffer = Buffer.concat([buffer, Buffer.from(chunk)])
    for (let next = takeFrame(buffer); next !== undefined; next = takeFrame(buffer)) {
      buffer = buffer.subarray(next.size)
      yield next.frame
    }
  }
}

/** RFC 6455, section 5.2, for the frames of a server, which are not masked. */
function takeFrame(buffer: Buffer): { frame: Frame; size: number } | undefined {
  if (buffer.length < 2) return undefined
  const short = buffer.readUInt8(1)
  const start = short === 126 ? 4 : short === 127 ? 10 : 2
  if (buffer.length < start) return undefined
  const length = short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short
  if (buffer.length < start + length) return undefined
  const first = buffer.readUInt8(0)
  const payload = Buffer.from(buffer.subarray(start, start + length))
  return { frame: { final: first >= 128, opcode: first & 15, payload }, size: start + length }
}

/** A control frame; its payload has at most 125 bytes. */
function maskedFrame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4)
  const masked = payload.map((byte, index) => byte ^ mask.readUInt8(index % 4))
  return Buffer.concat([Buffer.from([128 | opcode, 128 | payload.length]), mask, masked])
}
