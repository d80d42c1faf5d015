/**
 * A server connection of src/ws on a stream in memory: bytes go in, bytes and messages come out.
 *
 * For tables of bytes and expected answers. `exchange` sends the bytes in the given pieces, ends with a Ping that marks
 * the end of the answers, and lets a connection that was closed come to its end. The frames that come out are read here
 * by a few lines of their own, and told as text: `text Hello`, `pong 61`, `close 1002`.
 */
import { Duplex } from 'node:stream'
import { WebSocketConnection } from '../../src/ws/connection.ts'
import { defaultLimits, type ConnectionLimits } from '../../src/ws/limits.ts'
import { Compression } from '../../src/ws/compression.ts'
import { Departure } from '../../src/ws/departure.ts'
import { Pulse } from '../../src/ws/heartbeat.ts'
import { frame } from './ws-client.ts'

export interface ExchangeOptions extends Partial<ConnectionLimits> {
  /** permessage-deflate was negotiated, with or without context takeover by the client. */
  readonly deflate?: 'context' | 'no_context'
  /** Bytes of each piece; everything in one piece without it. */
  readonly pieceBytes?: number
  /** The peer ends its side after its bytes, as a lost connection does. */
  readonly ends?: boolean
  /** Called with the connection before anything is sent. */
  readonly before?: (connection: WebSocketConnection) => void
}

export interface Exchange {
  /** The messages that the owner was given. */
  readonly messages: readonly string[]
  /** The frames that the server sent, but the answer to the mark. */
  readonly frames: readonly string[]
  /** The bytes that the server sent. */
  readonly bytes: Buffer
  /** The arguments of `onClose`, where the connection came to its end. */
  readonly closed: string | undefined
}

const mark = Buffer.from('the mark')

export async function exchange(bytes: Uint8Array, options: ExchangeOptions = {}): Promise<Exchange> {
  const { deflate, pieceBytes, ends, before, ...limits } = options
  const socket = new MemorySocket()
  const inflater = deflate === undefined ? undefined : new Compression().open(deflate === 'context')
  const all = { ...defaultLimits, ...limits }
  const [departure, pulse] = [new Departure(), new Pulse(all)]
  const connection = new WebSocketConnection(socket, { limits: all, departure, pulse, inflater })
  const messages: string[] = []
  let closed: string | undefined
  const done = new Promise<void>((resolve) => {
    connection.owner = {
      onMessage: (message) =>
        void messages.push(message.kind === 'text' ? `text ${message.text}` : `binary ${message.data.toString('hex')}`),
      onClose(code, reason) {
        closed = `${code} ${reason}`.trim()
        resolve()
      },
    }
    socket.onWrite = () => {
      if (socket.taken().includes(mark)) resolve()
    }
  })
  before?.(connection)
  const marked = Buffer.concat([bytes, ends === true ? Buffer.alloc(0) : frame(0x9, mark)])
  const size = pieceBytes ?? Math.max(1, marked.length)
  for (let at = 0; at < marked.length; at += size) socket.push(Buffer.from(marked.subarray(at, at + size)))
  if (ends === true) socket.push(null)
  await done
  connection.terminate()
  const frames = framesOf(socket.taken()).filter((each) => each !== `pong ${mark.toString('hex')}`)
  return { messages, frames, bytes: socket.taken(), closed }
}

class MemorySocket extends Duplex {
  onWrite: () => void = () => undefined
  readonly #taken: Buffer[] = []

  taken(): Buffer {
    return Buffer.concat(this.#taken)
  }

  override _read(): void {
    // Bytes are pushed from outside.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#taken.push(chunk)
    done()
    this.onWrite()
  }

  /** The server has ended its side, so the peer does too. */
  override _final(done: () => void): void {
    done()
    if (!this.readableEnded) this.push(null)
    this.resume()
  }
}

/** Unmasked frames of one piece each, with the shortest form of their length; anything else throws. */
export function framesOf(bytes: Buffer): string[] {
  const found: string[] = []
  for (let at = 0; at < bytes.length;) {
    const [first, second] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)]
    if (second > 127) throw new Error('A frame of the server is masked')
    const headBytes = second < 126 ? 2 : second === 126 ? 4 : 10
    const length = second < 126
      ? second
      : second === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    if (length < (headBytes === 2 ? 0 : headBytes === 4 ? 126 : 65_536)) throw new Error('A length is not minimal')
    found.push(wordsOf(first, bytes.subarray(at + headBytes, at + headBytes + length)))
    at += headBytes + length
  }
  return found
}

function wordsOf(first: number, payload: Buffer): string {
  switch (first) {
    case 0x81:
      return `text ${payload.toString()}`
    case 0x82:
      return `binary ${payload.toString('hex')}`
    case 0x88:
      return payload.length === 0 ? 'close' : `close ${payload.readUInt16BE(0)}`
    case 0x89:
      return `ping ${payload.toString('hex')}`
    case 0x8a:
      return `pong ${payload.toString('hex')}`
    case 0xc1:
      return `compressed ${payload.toString('hex')}`
    default:
      throw new Error(`Unexpected first byte ${first.toString(16)}`)
  }
}
