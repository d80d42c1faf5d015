/**
 * The server's side of a SOCKS 5 handshake without authentication (RFC 1928, sections 3 to 6).
 *
 * Reads as many bytes as the handshake has and leaves the rest in the socket. Anything that is not a CONNECT request as
 * the RFC has it ends the connection.
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

/** VER REP RSV ATYP BND.ADDR BND.PORT; the address of our end is nobody's business. */
export function socksReply(reply: keyof typeof replies): Buffer {
  return Buffer.from([version, replies[reply], 0, addressTypes.ipv4, 0, 0, 0, 0, 0, 0])
}

/** What the other side wants to reach; undefined when the handshake failed, and the socket has been ended then. */
export async function readSocksRequest(socket: Socket): Promise<SocksTarget | undefined> {
  const [greeting = 0, methodCount = 0] = await readBytes(socket, 2)
  const methods = await readBytes(socket, methodCount)
  if (greeting !== version || !methods.includes(0)) {
    socket.end(Buffer.from([version, 0xff]))
    return undefined
  }
  socket.write(Buffer.from([version, 0]))
  const [requestVersion, command, , addressType] = await readBytes(socket, 4)
  if (requestVersion !== version || command !== 1) {
    socket.end(socksReply('unknownCommand'))
    return undefined
  }
  const host = await readHost(socket, addressType)
  const port = (await readBytes(socket, 2)).readUInt16BE()
  return { host, port }
}

async function readHost(socket: Socket, addressType: number | undefined): Promise<string> {
  switch (addressType) {
    case addressTypes.ipv4:
      return (await readBytes(socket, 4)).join('.')
    case addressTypes.ipv6:
      return (await readBytes(socket, 16)).toString('hex').replace(/(.{4})(?!$)/g, '$1:')
    case addressTypes.name: {
      const [length = 0] = await readBytes(socket, 1)
      return (await readBytes(socket, length)).toString('latin1').replace(/^\[(.*)\]$/, '$1').toLowerCase()
    }
    default:
      throw new Error(`Cannot read an address of type ${addressType}`)
  }
}

/** Exactly so many bytes, as soon as they are there. @throws Error when the socket ends before */
async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  if (count === 0) return Buffer.alloc(0)
  for (;;) {
    const chunk: unknown = socket.read(count)
    if (Buffer.isBuffer(chunk) && chunk.length === count) return chunk
    if (chunk !== null || socket.readableEnded || socket.destroyed) throw new Error('The handshake was cut off')
    await nextChange(socket)
  }
}

function nextChange(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close'] as const
    const settle = (): void => {
      for (const event of events) socket.off(event, settle)
      resolve()
    }
    for (const event of events) socket.on(event, settle)
  })
}
