/**
 * A WebSocket client for servers of others: frames of `test/support/ws-client`, read by `test/support/naive-ws`, which
 * knows fragments, binary messages and both ways of keeping a context. Every message is compressed by itself.
 */
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import { constants, deflateRawSync } from 'node:zlib'
import { sleep, within } from '../../src/base/wait.ts'
import { decodeNaively, type DeflateMode } from '../../test/support/naive-ws.ts'
import { frame } from '../../test/support/ws-client.ts'

const patienceMs = 120_000
const maxMessageBytes = 64 * 1024 * 1024

export interface Outgoing {
  readonly opcode: number
  readonly data: Buffer
  readonly fragments: number
}

export class RealClient {
  readonly mode: DeflateMode
  readonly #socket: Duplex
  readonly #chunks: Buffer[] = []
  #hasClosed = false
  #wake: () => void = () => undefined

  constructor(socket: Duplex, head: Buffer, mode: DeflateMode) {
    this.mode = mode
    this.#socket = socket
    this.#chunks.push(head)
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wake()
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#wake())
  }

  /** Compressed where that was negotiated, unless it is a control frame. */
  send({ opcode, data, fragments }: Outgoing): void {
    this.#hasClosed = opcode === 0x8
    const isCompressed = this.mode !== 'off' && opcode < 8
    const payload = isCompressed ? deflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4) : data
    const size = Math.ceil(payload.length / fragments)
    for (let index = 0; index < fragments; index++) {
      const options = { final: index === fragments - 1, reserved: isCompressed && index === 0 ? 0x40 : 0 }
      this.#socket.write(frame(index === 0 ? opcode : 0, payload.subarray(index * size, (index + 1) * size), options))
    }
  }

  /**
   * Returns the frames that came, in the words of `decodeNaively`, once there are `count` of them. Returns fewer when
   * the connection or the wait has ended.
   */
  async told(count: number): Promise<string[]> {
    const end = Date.now() + patienceMs
    for (;;) {
      const news = new Promise<void>((resolve) => (this.#wake = resolve))
      const told = decodeNaively(Buffer.concat(this.#chunks), {
        masked: false, deflate: this.mode, maxMessageBytes, maxFragments: 1000,
      })
      if (told.length >= count || this.#socket.destroyed || Date.now() >= end) return told
      await within(news, end - Date.now())
      // All bytes are read anew each time, so not after each of many pieces.
      await sleep(20)
    }
  }

  /** Closes, or answers the Close frame of the server. */
  end(): void {
    this.#socket.end(this.#hasClosed ? undefined : frame(0x8, Buffer.from([0x03, 0xe8])))
  }
}

export function openClient(url: string, extensions?: string): Promise<RealClient> {
  const key = randomBytes(16).toString('base64')
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': key,
    ...(extensions === undefined ? {} : { 'Sec-WebSocket-Extensions': extensions }),
  }
  return new Promise((resolve, reject) => {
    const opening = request(url.replace(/^ws:/, 'http:'), { headers, agent: false })
    opening.on('error', reject)
    opening.on('response', (response) => reject(new Error(`The upgrade was answered with ${response.statusCode}`)))
    opening.on('upgrade', (response, socket, head) => {
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      if (response.headers['sec-websocket-accept'] !== accept) return reject(new Error('The hash of the key is wrong'))
      resolve(new RealClient(socket, head, modeOf(response.headers['sec-websocket-extensions'])))
    })
    opening.end()
  })
}

function modeOf(extensions: string | undefined): DeflateMode {
  if (extensions === undefined || !extensions.includes('permessage-deflate')) return 'off'
  return extensions.includes('server_no_context_takeover') ? 'no_context' : 'context'
}
