/**
 * A node:http server with limits, error responses in JSON and a graceful shutdown.
 *
 * A request that Node's parser refuses (RFC 9112) gets a JSON response, unless that would disturb an earlier response,
 * and its connection is closed. A handler must not throw. The upgrade handler must listen for socket errors at once.
 */
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { mayServe, newestAnswer } from './framing.ts'
import { oldestStranger } from './key-holders.ts'
import { isLingering } from './linger.ts'
import { guardHeaders } from './reply.ts'
import { unreadable, type Traffic } from './traffic.ts'

export interface HttpServerOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Handles upgrade requests. Default: they are served as ordinary requests. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  readonly limits?: Partial<HttpLimits>
  /** Receives the number of connections, and the responses that this server makes itself, without `handle`. */
  readonly traffic?: Traffic
}

export interface HttpLimits {
  /** The most bytes of the request line and headers. More bytes get 431 or 414. */
  readonly headerLimitBytes: number
  /** Above this number, a new connection closes the oldest connection without a key (`oldestStranger`). */
  readonly connectionLimit: number
  /** The time limit for a request's headers, from its first byte; for a first request, from the connection's start. */
  readonly headersTimeoutMs: number
  /** The time limit for a whole request with its body, counted from the same moment as `headersTimeoutMs`. */
  readonly requestTimeoutMs: number
  /** The time for which an idle connection stays open after a response. */
  readonly keepAliveTimeoutMs: number
}

export const defaultHttpLimits: HttpLimits = {
  headerLimitBytes: 32 * 1024,
  connectionLimit: 12_000,
  headersTimeoutMs: 30_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
}

export interface Address {
  readonly host: string
  readonly port: number
}

export class HttpServer {
  readonly #server: Server
  readonly #options: HttpServerOptions
  readonly #limits: HttpLimits
  /** Every open connection, upgraded ones too. */
  readonly #connections = new Set<Duplex>()
  /** The listener for the close of a connection (`this`). All connections share it, to save memory. */
  readonly #forget: (this: Duplex) => void
  #closed: Promise<void> | undefined

  constructor(options: HttpServerOptions) {
    this.#options = options
    this.#limits = { ...defaultHttpLimits, ...options.limits }
    this.#server = createHttpServer(this.#limits)
    const [connections, count] = [this.#connections, (): void => this.#count()]
    this.#forget = function forget() {
      connections.delete(this)
      count()
    }
    this.#server.on('connection', (socket) => this.#hold(socket))
    this.#server.on('request', (request, response) => this.#serve(request, response))
    this.#server.on('checkContinue', (request, response) => this.#continue(request, response))
    this.#server.on('clientError', (error, socket) => this.#refuse(error, socket))
    if (options.upgrade !== undefined) this.#server.on('upgrade', options.upgrade)
  }

  /**
   * Begins to accept connections and returns the address; port 0 means any free port.
   * @throws AppError `cannot_listen`
   */
  listen(address: Address): Promise<Address> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(cannotListen(address, error))
      this.#server.once('error', fail)
      this.#server.listen(address.port, address.host, () => {
        this.#server.off('error', fail)
        const bound = this.#server.address()
        // A string is the path of a pipe.
        if (bound === null || typeof bound === 'string') reject(new TypeError('The server has no address'))
        else resolve({ host: bound.address, port: bound.port })
      })
    })
  }

  /**
   * Accepts no more connections and lets requests in flight finish. Destroys the remaining connections after `graceMs`.
   * Resolves when no connection is open.
   */
  close(graceMs: number): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.#destroyAll(), graceMs)
      // Node reads this value when a response ends, so connections now close soon after a response.
      this.#server.keepAliveTimeout = 1
      // `close` closes idle connections too. An error, which says that the server was not listening, is ignored.
      this.#server.close(() => {
        clearTimeout(timer)
        resolve()
      })
    })
    return this.#closed
  }

  #hold(socket: Socket): void {
    this.#connections.add(socket)
    this.#count()
    if (this.#connections.size > this.#limits.connectionLimit) this.#closeStranger()
    socket.on('close', this.#forget)
  }

  #closeStranger(): void {
    const stranger = oldestStranger(this.#connections)
    if (stranger === undefined) return
    this.#connections.delete(stranger)
    stranger.destroy()
  }

  #destroyAll(): void {
    for (const socket of this.#connections) socket.destroy()
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (!mayServe(request, response)) return
    // If the server is closing, makes Node send `Connection: close`.
    if (this.#closed !== undefined) response.shouldKeepAlive = false
    // Node's parser also accepts other versions, such as HTTP/0.9.
    if (request.httpVersionMajor !== 1) {
      refuseWith(response, 505)
      this.#options.traffic?.answered(() => unreadable(request.socket), response, 505, 0)
    } else this.#options.handle(request, response)
  }

  /**
   * Serves a request with `Expect: 100-continue` (RFC 9110, section 10.1.1). While an earlier response is not finished,
   * the request gets no interim response, because Node would write it into the earlier response.
   */
  #continue(request: IncomingMessage, response: ServerResponse): void {
    if (response.socket !== null) response.writeContinue()
    this.#serve(request, response)
  }

  /** Handles a parser error or a timeout. Refuses the request if its response has not begun. Closes the connection. */
  #refuse(error: Error, socket: Duplex): void {
    const newest = newestAnswer(socket)
    const status = statusOf(error, this.#limits)
    // No refusal may follow a response that closes the connection.
    if (newest?.writableFinished === true && !newest.shouldKeepAlive) return
    if (newest === undefined || newest.writableFinished) return this.#refuseNow(socket, status)
    // Stops reading, because the parser would report an error again for each further chunk.
    socket.pause()
    if (newest.req.complete) newest.once('close', () => this.#refuseNow(socket, status))
    else if (isLingering(newest.req)) newest.end()
    else if (newest.headersSent) socket.destroy()
    else this.#refuseNow(socket, status)
  }

  #refuseNow(socket: Duplex, status: number): void {
    refuse(socket, status)
    this.#options.traffic?.refused(() => unreadable(socket), socket, status, 0)
  }

  #count(): void {
    const { traffic } = this.#options
    if (traffic !== undefined) traffic.connections = this.#connections.size
  }
}

function createHttpServer(limits: HttpLimits): Server {
  const server = createServer({
    maxHeaderSize: limits.headerLimitBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(5_000, limits.headersTimeoutMs / 4)),
    // Node's check is off: `origin.ts` checks the Host, and its refusals are JSON.
    requireHostHeader: false,
    insecureHTTPParser: false,
  })
  // No limit: Node drops the headers above a limit, and these may decide about access. `maxHeaderSize` limits bytes.
  server.maxHeadersCount = 0
  return server
}

/** Writes a refusal to the socket, without a `ServerResponse`, and ends the connection. */
function refuse(socket: Duplex, status: number): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { headers, body } = refusalOf(status)
  const text = headers.map((part, index) => part + (index % 2 === 0 ? ': ' : '\r\n')).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${text}\r\n${body}`, () => socket.destroy())
}

/** Sends a refusal as the response to a request. Node sends it after the responses to earlier requests. */
function refuseWith(response: ServerResponse, status: number): void {
  const { headers, body } = refusalOf(status)
  response.shouldKeepAlive = false
  response.writeHead(status, headers).end(body)
}

/** Returns the headers (names and values in turn) and the JSON body of a refusal. */
function refusalOf(status: number): { readonly headers: string[]; readonly body: string } {
  const body = JSON.stringify({ detail: STATUS_CODES[status] ?? '' })
  const headers = ['Connection', 'close', 'Content-Type', 'application/json', 'Cache-Control', 'no-store']
  return { headers: [...headers, ...guardHeaders, 'Content-Length', String(body.length)], body }
}

function statusOf(error: Error, limits: HttpLimits): number {
  switch (systemCodeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return isStillInTarget(error, limits.headerLimitBytes) ? 414 : 431
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    default:
      return 400
  }
}

/** True when the first `limitBytes` of the refused data have only a method and a target: the target is too long. */
function isStillInTarget(error: Error, limitBytes: number): boolean {
  if (!('rawPacket' in error) || !Buffer.isBuffer(error.rawPacket)) return false
  const start = error.rawPacket.toString('latin1', 0, limitBytes)
  return /^[A-Z]+ [^\s]*$/.test(start)
}

function cannotListen({ host, port }: Address, error: Error): AppError {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return new AppError('cannot_listen', `Could not listen on ${where}: ${reasonOf(error)}`, { cause: error })
}

function reasonOf(error: Error): string {
  switch (systemCodeOf(error)) {
    case 'EADDRINUSE':
      return 'another program uses this port, choose another port'
    case 'EACCES':
      return 'this user may not use this port, choose a port above 1023'
    case 'EADDRNOTAVAIL':
      return 'this machine does not have this address'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name has no address'
    default:
      return error.message
  }
}
