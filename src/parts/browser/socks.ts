/**
 * The server's side of a SOCKS 5 handshake without authentication (RFC 1928, sections 3 to 6).
 *
 * Bytes after the handshake stay in the socket.
 */
import type { Socket } from 'node:net'

export interface SocksTarget {
  /** A name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
}

const version = 5
const replies = { granted: 0, notAllowed: 2, unreachable: 4, unknownCommand: 7 } as const
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const

/** Returns a reply: VER REP RSV ATYP BND.ADDR BND.PORT. The bound address is 0.0.0.0:0, not the real address. */
export function socksReply(reply: keyof typeof replies): Buffer {
  return Buffer.from([version, replies[reply], 0, addressTypes.ipv4, 0, 0, 0, 0, 0, 0])
}

/**
 * Returns the target that the client asks for. Ends the socket and returns undefined for an unsupported request.
 * @throws Error for a broken handshake, and for an address of an unknown type
 */
export async function readSocksRequest(socket: Socket): Promise<SocksTarget | undefined> {
  const incoming = new IncomingBytes(socket)
  const [greeting, methodCount = 0] = await incoming.take(2)
  const methods = await incoming.take(methodCount)
  if (greeting !== version || !methods.includes(0)) {
    socket.end(Buffer.from([version, 0xff]))
    return undefined
  }
  socket.write(Buffer.from([version, 0]))
  const [requestVersion, command, , addressType] = await incoming.take(4)
  if (requestVersion !== version || command !== 1) {
    socket.end(socksReply('unknownCommand'))
    return undefined
  }
  const host = await readHost(incoming, addressType)
  const port = (await incoming.take(2)).readUInt16BE()
  incoming.giveBack()
  return { host, port }
}

async function readHost(incoming: IncomingBytes, addressType: number | undefined): Promise<string> {
  switch (addressType) {
    case addressTypes.ipv4:
      return (await incoming.take(4)).join('.')
    case addressTypes.ipv6:
      return (await incoming.take(16)).toString('hex').replace(/(.{4})(?!$)/g, '$1:')
    case addressTypes.name: {
      const [length = 0] = await incoming.take(1)
      return (await incoming.take(length)).toString('latin1').replace(/^\[(.*)\]$/, '$1').toLowerCase()
    }
    default:
      throw new Error(`Cannot read an address of type ${addressType}`)
  }
}

/** Reads exact numbers of bytes from a socket. Between two reads, the socket is paused. */
class IncomingBytes {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.pause()
  }

  /** Reads exactly `count` bytes. @throws Error when the socket ends too early */
  async take(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) this.#bytes = Buffer.concat([this.#bytes, await nextChunk(this.#socket)])
    const taken = this.#bytes.subarray(0, count)
    this.#bytes = this.#bytes.subarray(count)
    return taken
  }

  /** Puts unread bytes back into the socket. */
  giveBack(): void {
    if (this.#bytes.length > 0) this.#socket.unshift(this.#bytes)
  }
}

function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      socket.pause()
      socket.off('data', onData)
      socket.off('end', onEnd)
      socket.off('close', onEnd)
    }
    const onData = (chunk: Buffer): void => {
      leave()
      resolve(chunk)
    }
    const onEnd = (): void => {
      leave()
      reject(new Error('The handshake was cut off'))
    }
    if (socket.destroyed || socket.readableEnded) return onEnd()
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    socket.resume()
  })
}
