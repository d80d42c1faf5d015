/**
 * The gate: a SOCKS 5 server on a loopback port (RFC 1928), through which a browser reaches the network.
 *
 * The gate resolves names, and connects to the address that it has checked. So DNS rebinding cannot lead the browser to
 * a refused address. Other users of this machine can use the port too.
 */
import { createServer, connect, isIP, type Server, type Socket } from 'node:net'
import { AppError } from '../../base/errors.ts'
import { assertLiteral, createLookup, type AddressRule } from '../net/address.ts'
import { readSocksRequest, socksReply, type SocksTarget } from './socks.ts'

export interface GateOptions {
  /** Returns the rule for the addresses of a host; undefined if the host is refused. */
  readonly ruleFor: (target: SocksTarget) => AddressRule | undefined
  /** The most connections to the gate at the same time. Default 512. */
  readonly connectionLimit?: number
  /** The longest time without data while a connection to the target is being opened. Default 20 s. */
  readonly timeoutMs?: number
}

export interface Gate {
  readonly port: number
  /** Closes the port and every connection. Idempotent. */
  close(): Promise<void>
}

/** Opens a gate on a free port of 127.0.0.1. @throws AppError `cannot_listen` */
export async function openGate(options: GateOptions): Promise<Gate> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    keep(sockets, socket)
    serve(socket, sockets, options).catch(() => socket.destroy()) // The browser sees a closed connection.
  })
  server.maxConnections = options.connectionLimit ?? 512
  const port = await listen(server)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { port, close: () => (closing ??= close()) }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new AppError('cannot_listen', `Cannot open a loopback port: ${cause.message}`, { cause }))
    })
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
    })
  })
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket)
  socket.on('error', () => socket.destroy()) // The browser sees a closed connection.
  socket.on('close', () => sockets.delete(socket))
}

async function serve(socket: Socket, sockets: Set<Socket>, options: GateOptions): Promise<void> {
  const { ruleFor, timeoutMs = 20_000 } = options
  socket.setTimeout(timeoutMs, () => socket.destroy())
  const target = await readSocksRequest(socket)
  if (target === undefined) return
  const rule = ruleFor(target)
  if (rule === undefined) return refuse(socket, 'notAllowed')
  const upstream = await open(target, rule, sockets, timeoutMs).catch((error: unknown) => {
    refuse(socket, error instanceof AppError ? 'notAllowed' : 'unreachable')
  })
  if (upstream === undefined) return
  if (socket.destroyed) return void upstream.destroy()
  // An open connection has no time limit.
  socket.setTimeout(0)
  upstream.setTimeout(0)
  socket.on('close', () => upstream.destroy())
  upstream.on('close', () => socket.destroy())
  socket.write(socksReply('granted'))
  socket.pipe(upstream)
  upstream.pipe(socket)
}

function open(
  { host, port }: SocksTarget,
  rule: AddressRule,
  sockets: Set<Socket>,
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // The lookup checks addresses, but `connect` calls it for names only. So check an IP address here.
    if (isIP(host) !== 0) assertLiteral(host, rule)
    const upstream = connect({ host, port, lookup: createLookup(rule), allowHalfOpen: true })
    keep(sockets, upstream)
    upstream.setTimeout(timeoutMs, () => upstream.destroy(new Error('No connection in time')))
    upstream.once('error', reject)
    upstream.once('connect', () => resolve(upstream))
    upstream.once('close', () => reject(new Error('Closed')))
  })
}

function refuse(socket: Socket, why: 'notAllowed' | 'unreachable'): void {
  socket.end(socksReply(why))
}
