/**
 * The reading end of event streams: sockets that ask for an upgrade and then count bytes.
 *
 * Frames are told apart only where their number has to be known. A server's frames are never masked (RFC 6455, section
 * 5.1), and each frame of this server is a whole message.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { isObject } from '../../src/base/json.ts'
import type { Child } from './child.ts'

export interface Place {
  readonly port: number
  readonly path: string
  readonly key: string
}

/** The event streams of a child that answers `where`. */
export async function placesOf(child: Child): Promise<Place[]> {
  const where = await child.ask('where')
  if (!isObject(where) || !Array.isArray(where['paths'])) throw new TypeError('The child does not say where it is')
  const { port, key, paths } = where
  return paths.map((path) => ({ port: Number(port), key: String(key), path: String(path) }))
}

const headEnd = '\r\n\r\n'

/** Resolves when the server has agreed to the upgrade. The bytes behind its answer have not been read yet. */
export async function openSocket({ port, path, key }: Place): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
    `X-Session-API-Key: ${key}`,
  ]
  socket.write(lines.join('\r\n') + headEnd)
  const [answer]: Buffer[] = await once(socket, 'data')
  socket.pause()
  const end = answer?.indexOf(headEnd) ?? -1
  if (answer === undefined || end === -1) throw new Error('Could not open a socket: the answer has no end')
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) {
    throw new Error(`Could not open a socket: ${answer.toString()}`)
  }
  socket.unshift(answer.subarray(end + headEnd.length))
  return socket
}

/** Resolves when so many more bytes have come. */
export function receiveBytes(socket: Socket, count: number): Promise<void> {
  return collect(socket, (_chunk, bytes) => bytes >= count)
}

/**
 * Resolves when the reader of the texts that come has had enough. Each is told with the time of the monotonic clock.
 */
export function receiveUntil(socket: Socket, read: (text: string, now: bigint) => boolean): Promise<void> {
  return collect(socket, (chunk) => read(chunk.toString('latin1'), process.hrtime.bigint()))
}

/** The bytes of the next frames. */
export async function receiveFrames(socket: Socket, count: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let left = count
  let rest = Buffer.alloc(0)
  await collect(socket, (chunk) => {
    chunks.push(chunk)
    rest = Buffer.concat([rest, chunk])
    for (let length = frameLength(rest); left > 0 && length <= rest.length; length = frameLength(rest)) {
      rest = rest.subarray(length)
      left--
    }
    return left === 0
  })
  return Buffer.concat(chunks)
}

function collect(socket: Socket, isEnough: (chunk: Buffer, bytes: number) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      if (isEnough(chunk, bytes)) stop(resolve)
    }
    const onClose = (): void => stop(() => reject(new Error(`The server closed a socket after ${bytes} bytes`)))
    const stop = (settle: () => void): void => {
      socket.off('data', onData).off('close', onClose).pause()
      settle()
    }
    socket.on('data', onData).on('close', onClose).resume()
  })
}

/** RFC 6455, section 5.2; Infinity when its head is not there yet. */
function frameLength(bytes: Buffer): number {
  const code = bytes[1] ?? 0
  const headLength = code < 126 ? 2 : code === 126 ? 4 : 10
  if (bytes.length < headLength) return Infinity
  if (code < 126) return headLength + code
  return headLength + (code === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)))
}
