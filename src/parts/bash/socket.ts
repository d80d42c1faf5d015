/**
 * `/sockets/bash-events`: all commands and outputs, and commands of this client (contract: others.md section 1).
 *
 * A socket is a cursor in the history. It stops sending when its connection is full, and goes on from there when the
 * connection has drained.
 */
import { randomUUID } from 'node:crypto'
import { isAuthFrame } from '../../api/socket-auth.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import { parse } from '../../schema/check.ts'
import { ExecuteBashRequest } from '../../schema/generated/bash.ts'
import type { Message } from '../../ws/assembler.ts'
import type { ConnectionOwner, WebSocketConnection } from '../../ws/connection.ts'
import { encodeCompressedText } from '../../ws/deflate.ts'
import { encodeText } from '../../ws/frame.ts'
import type { Commands } from './commands.ts'
import type { History } from './history.ts'

export interface SocketsOptions {
  readonly history: History
  readonly commands: Commands
  readonly clock: Clock
  readonly messageLimitBytes: number
}

const socketLimit = 50
const goingAway = 1001
const policyViolation = 1008
const tryAgainLater = 1013

/** The sockets of one server. */
export class BashSockets {
  readonly #options: SocketsOptions
  readonly #sockets = new Set<BashSocket>()

  constructor(options: SocketsOptions) {
    this.#options = options
  }

  serve(connection: WebSocketConnection, query: string): void {
    const parameters = new URLSearchParams(query)
    const mode = parameters.get('resend_mode') ?? (parameters.get('resend_all') === 'true' ? 'all' : undefined)
    if (mode !== undefined && mode !== 'all') return connection.close(policyViolation, 'resend_mode: expected "all"')
    if (this.#sockets.size >= socketLimit) {
      return connection.close(tryAgainLater, 'Too many bash event connections')
    }
    const { history, messageLimitBytes } = this.#options
    connection.maxMessageBytes = messageLimitBytes
    const socket = new BashSocket(connection, this.#options, mode === 'all' ? history.first : history.end)
    this.#sockets.add(socket)
    const unfollow = history.follow(() => socket.onDrain())
    connection.owner = {
      onMessage: (message) => socket.onMessage(message),
      onDrain: () => socket.onDrain(),
      onClose: () => {
        unfollow()
        this.#sockets.delete(socket)
      },
    }
    socket.onDrain()
  }

  close(): void {
    for (const socket of this.#sockets) socket.connection.close(goingAway, 'The server is shutting down')
  }
}

class BashSocket implements ConnectionOwner {
  readonly connection: WebSocketConnection
  readonly #options: SocketsOptions
  #next: number

  constructor(connection: WebSocketConnection, options: SocketsOptions, next: number) {
    this.connection = connection
    this.#options = options
    this.#next = next
  }

  /** Sends what comes next in the history, as much as the connection takes. */
  onDrain(): void {
    const { history } = this.#options
    this.#next = Math.max(this.#next, history.first)
    for (let event = history.at(this.#next); event !== undefined; event = history.at(this.#next)) {
      if (!this.#send(event.json)) return
      this.#next++
    }
  }

  onMessage(message: Message): void {
    try {
      if (message.kind !== 'text') throw new AppError('bad_request', 'Expected a text frame')
      const value = parseJson(message.text)
      if (isAuthFrame(value)) return
      const request = parse(ExecuteBashRequest, value)
      if (!request.ok) {
        const words = request.issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
        throw new AppError('invalid_input', words)
      }
      this.#options.commands.start(request.value)
    } catch (thrown) {
      this.#sendError(thrown)
    }
  }

  #sendError(thrown: unknown): void {
    const isOurs = thrown instanceof AppError || thrown instanceof SyntaxError || thrown instanceof RangeError
    const code = thrown instanceof AppError ? codeOf(thrown) : isOurs ? 'JSONDecodeError' : 'InternalError'
    const detail = isOurs ? messageOf(thrown) : 'Unexpected error'
    const id = randomUUID().replaceAll('-', '')
    const timestamp = formatMicros(Math.floor(this.#options.clock() * 1000))
    this.#send(Buffer.from(JSON.stringify({ kind: 'BashError', id, timestamp, code, detail })))
  }

  #send(json: Buffer): boolean {
    return this.connection.send(this.connection.deflate ? encodeCompressedText(json) : encodeText(json))
  }
}

function codeOf({ code }: AppError): string {
  return code === 'invalid_input' ? 'ValidationError' : code
}
