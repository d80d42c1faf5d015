/**
 * Turns an `upgrade` event of a node:http server into a connection, or refuses it. The caller checks the path, the
 * host, the origin and the API key.
 *
 * Call `acceptUpgrade` or `refuseUpgrade` in the turn of the event loop in which the event comes, because the socket
 * has no listener for errors yet.
 */
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Compression } from './compression.ts'
import { WebSocketConnection } from './connection.ts'
import { Departure } from './departure.ts'
import { Pulse } from './heartbeat.ts'
import { checkHandshake } from './handshake.ts'
import { defaultLimits, type ConnectionLimits } from './limits.ts'

export interface UpgradeOptions {
  /** The limits of each connection. Default: `defaultLimits`. */
  readonly limits?: ConnectionLimits
  /** Limits memory and threads of permessage-deflate for all connections together. Default: no permessage-deflate. */
  readonly compression?: Compression | undefined
  /** Schedules the writes. Connections that send the same frames can share it. */
  readonly departure?: Departure
  /** Schedules the Pings. Connections with the same limits can share it. */
  readonly pulse?: Pulse
}

/** The result of an upgrade. `status` is the HTTP status that was sent; 0 if the client was gone already. */
export type Upgrade =
  | { readonly ok: true; readonly connection: WebSocketConnection }
  | { readonly ok: false; readonly status: number; readonly reason: string }

type Headers = Readonly<Record<string, string>>

/** The headers of every refusal of an upgrade. They keep the refusal from caches and from pages of other sites. */
const guards: Headers = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "frame-ancestors 'none'",
}

/** The stream of an upgrade request: a net.Socket, or another stream, which may lack the two methods named here. */
type Transport = Duplex & {
  readonly setNoDelay?: (isOn: boolean) => unknown
  readonly setTimeout?: (ms: number) => unknown
}

/** Responds with 101 or with a refusal. Returns the connection, or the refusal's status and reason. */
export function acceptUpgrade(
  request: IncomingMessage,
  socket: Transport,
  head: Buffer,
  options: UpgradeOptions = {},
): Upgrade {
  if (socket.destroyed) return { ok: false, status: 0, reason: 'Cannot upgrade: the client is gone' }
  const { limits = defaultLimits, compression, departure = new Departure(), pulse = new Pulse(limits) } = options
  const handshake = checkHandshake(request, compression && { mayKeepContext: compression.hasRoom })
  if (!handshake.ok) {
    const { status, reason, headers } = handshake
    refuseUpgrade(socket, status, JSON.stringify({ detail: reason }), headers)
    return { ok: false, status, reason }
  }
  // Removes a time-out of the HTTP server, and sends small frames without delay.
  socket.setTimeout?.(0)
  socket.setNoDelay?.(true)
  socket.write(headOf(101, handshake.headers))
  if (head.length > 0) socket.unshift(head)
  const inflater = handshake.deflate && compression?.open(handshake.deflate.keepsContext)
  return { ok: true, connection: new WebSocketConnection(socket, { limits, departure, inflater, pulse }) }
}

/** Refuses an upgrade request with an HTTP response, whose body is JSON, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: number, body: string, headers: Headers = {}): void {
  const length = String(Buffer.byteLength(body))
  const own = { 'Content-Type': 'application/json', 'Content-Length': length, Connection: 'close' }
  const all = { ...own, ...guards, ...headers }
  socket.on('error', () => socket.destroy()) // The client is gone: nobody can be told.
  socket.end(headOf(status, all) + body, () => socket.destroy())
}

function headOf(status: number, headers: Headers): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
}
