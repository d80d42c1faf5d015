/**
 * Serves the WebSocket `/sockets/bash-events`: sends commands and outputs to clients, and runs the commands that
 * clients send (contract/others.md, section 1).
 *
 * After its first command, a socket whose query does not ask for all events (`resend_mode=all`) gets only the events of
 * its own commands. The reason: a published web client takes the next `BashCommand` event for its own command.
 */
import { randomUUID } from 'node:crypto'
import { isAuthFrame } from '../../api/socket-auth.ts'
import { checkedFrame, frameErrorOf, parseFrame, type FrameError } from '../../api/socket-error.ts'
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import { ExecuteBashRequest } from './generated.ts'
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
  /** The most JSON values that a message may have. */
  readonly valueLimit: number
  readonly log: Log
}

const socketLimit = 50
const serviceRestart = 1012
const policyViolation = 1008
const tryAgainLater = 1013

/** The open sockets of one server, at most 50. A connection above this number is closed with the code 1013. */
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
    const socket = new BashSocket(connection, this.#options, mode === 'all')
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
    for (const socket of this.#sockets) socket.connection.close(serviceRestart, 'The server is shutting down')
  }
}

class BashSocket implements ConnectionOwner {
  readonly connection: WebSocketConnection
  readonly #options: SocketsOptions
  readonly #wantsAll: boolean
  /** Marks the events of this socket's commands in the history (`StoredEvent.sender`). */
  readonly #sender = Symbol('socket')
  #hasSent = false
  #next: number

  constructor(connection: WebSocketConnection, options: SocketsOptions, wantsAll: boolean) {
    this.connection = connection
    this.#options = options
    this.#wantsAll = wantsAll
    this.#next = wantsAll ? options.history.first : options.history.end
  }

  /** Sends the events from `#next` on that are for this socket. Stops when the connection's buffer is full. */
  onDrain(): void {
    const { history } = this.#options
    this.#next = Math.max(this.#next, history.first)
    for (let event = history.at(this.#next); event !== undefined; event = history.at(this.#next)) {
      const isForeign = this.#hasSent && !this.#wantsAll && event.sender !== this.#sender
      if (!isForeign && !this.#send(event.json)) return
      this.#next++
    }
  }

  onMessage(message: Message): void {
    this.connection.pause()
    this.#serve(message)
      .catch((thrown: unknown) => this.#sendError(frameErrorOf(thrown, this.#options.log)))
      .finally(() => this.connection.resume())
  }

  async #serve(message: Message): Promise<void> {
    if (message.kind !== 'text') throw new AppError('bad_request', 'Expected a text frame')
    const value = await parseFrame(message.text, this.#options.valueLimit)
    if (isAuthFrame(value)) return
    const request = checkedFrame(ExecuteBashRequest, value)
    this.#hasSent = true
    this.#options.commands.start(request, this.#sender)
  }

  #sendError({ code, detail }: FrameError): void {
    const id = randomUUID().replaceAll('-', '')
    const timestamp = formatMicros(Math.floor(this.#options.clock() * 1000))
    this.#send(Buffer.from(JSON.stringify({ kind: 'BashError', id, timestamp, code, detail })))
  }

  #send(json: Buffer): boolean {
    return this.connection.send(this.connection.deflate ? encodeCompressedText(json) : encodeText(json))
  }
}
