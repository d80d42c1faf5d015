/**
 * One WebSocket connection from its first frame to its last (RFC 6455, sections 5 to 7).
 *
 * Set `owner` in the turn of the event loop in which you get the connection, so that no message is lost.
 *
 *     open --close()--> closing --Close of the peer, or a broken rule--> ending --socket closed--> closed
 *     open --Close of the peer, or a broken rule, both answered by Close--> ending
 *     open or closing --terminate(), a socket error, the peer's FIN, or no answer to a Ping or Close--> ending
 */
import type { Duplex } from 'node:stream'
import { assertNever } from '../base/errors.ts'
import type { Incoming, Message, Undecoded } from './assembler.ts'
import { abnormalCloseCode, encodeClose, encodeFrame, encodeText, noCloseCode, opcodes } from './frame.ts'
import type { Departure } from './departure.ts'
import { Heartbeat, type HeartbeatOwner, type Pulse } from './heartbeat.ts'
import type { Inflater } from './inflater.ts'
import { Intake } from './intake.ts'
import type { ConnectionLimits } from './limits.ts'
import { Outbox, type OutboxOwner } from './outbox.ts'
import { violations } from './violation.ts'
import type { Violation } from './violation.ts'

/** The events of a connection, for its owner. */
export interface ConnectionOwner {
  /** Receives messages in order, while the connection is open and not paused. Must not throw. */
  onMessage?: (message: Message) => void
  /** Called when the socket has taken all frames of an open connection. A refused `send` may then be repeated. */
  onDrain?: () => void
  /** Called last. `code` is from the first Close frame of either side: 1005 if it has no code, 1006 without a frame. */
  onClose?: (code: number, reason: string) => void
}

export interface ConnectionOptions {
  /** The limits of this connection. Connections can share the object. */
  readonly limits: ConnectionLimits
  /** The inflater for incoming messages, if permessage-deflate was negotiated. */
  readonly inflater?: Inflater | undefined
  /** Schedules the writes. Shared by connections that send the same frames. */
  readonly departure: Departure
  /** Schedules the Pings. Shared by connections with the same limits. */
  readonly pulse: Pulse
}

type State = 'open' | 'closing' | 'ending' | 'closed'

const tryAgainLater = 1013
const noData = Buffer.alloc(0)
const nobody: ConnectionOwner = Object.freeze({})
/** The member of a socket that holds its connection. With it, all sockets share listeners: this saves memory. */
const connectionOf = Symbol('connection')

interface Carrier extends Duplex {
  [connectionOf]?: WebSocketConnection
}

function onData(this: Carrier, chunk: Buffer): void {
  this[connectionOf]?.received(chunk)
}

function onEnd(this: Carrier): void {
  this[connectionOf]?.ended()
}

/** Destroys the socket. A socket emits `close` after `error`, so `onClose` follows. */
function onError(this: Carrier): void {
  this[connectionOf]?.terminate()
}

function onClose(this: Carrier): void {
  this[connectionOf]?.closed()
}

export class WebSocketConnection implements OutboxOwner, HeartbeatOwner {
  owner = nobody
  readonly #socket: Duplex
  readonly #limits: ConnectionLimits
  readonly #inflater: Inflater | undefined
  readonly #outbox: Outbox
  readonly #heartbeat: Heartbeat
  #maxMessageBytes: number
  /** Turns incoming bytes into messages. Dropped when it holds no bytes of a message, to save memory. */
  #intake: Intake | undefined
  #state: State = 'open'
  #isPaused = false
  #isReading = false
  #closeTimer: NodeJS.Timeout | undefined
  #closeCode = abnormalCloseCode
  #closeReason = ''

  /** The connection owns `socket`, which must be open and have finished the handshake. */
  constructor(socket: Carrier, { limits, inflater, departure, pulse }: ConnectionOptions) {
    this.#socket = socket
    this.#limits = limits
    this.#inflater = inflater
    this.#maxMessageBytes = limits.maxMessageBytes
    this.#outbox = new Outbox(socket, { limits, departure, owner: this })
    this.#heartbeat = new Heartbeat(pulse, this)
    socket[connectionOf] = this
    socket.on('data', onData)
    socket.on('end', onEnd)
    socket.on('error', onError)
    socket.on('close', onClose)
  }

  /** True when frames of `encodeCompressedText` may be sent. */
  get deflate(): boolean {
    return this.#inflater !== undefined
  }

  /** The number of outgoing bytes that the socket has not taken yet, except those of a Pong that waits. */
  get bufferedBytes(): number {
    return this.#outbox.bufferedBytes
  }

  /** The code of the first Close frame of either side; 1005 if the frame has no code, 1006 while there is no frame. */
  get closeCode(): number {
    return this.#closeCode
  }

  /** True while the queue is too full for `send`. */
  get isFull(): boolean {
    return this.#outbox.isFull
  }

  /** The most bytes of an incoming message. The owner may change this limit. */
  get maxMessageBytes(): number {
    return this.#maxMessageBytes
  }

  set maxMessageBytes(bytes: number) {
    this.#maxMessageBytes = bytes
    if (this.#intake !== undefined) this.#intake.maxMessageBytes = bytes
  }

  /** Queues a frame of `encodeText` or `encodeCompressedText`. Returns false, without effect, when full or not open. */
  send(frame: Buffer): boolean {
    if (this.#state !== 'open' || this.#outbox.isFull) return false
    this.#outbox.push(frame)
    return true
  }

  sendText(text: string | Uint8Array): boolean {
    return this.send(encodeText(text))
  }

  /** Stops reading until `resume` or `close`. Frames whose bytes have already arrived wait too. */
  pause(): void {
    if (this.#state !== 'open') return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#goOn()
  }

  /**
   * Sends a Close frame after the queued frames, waits for the peer's Close frame and ends the connection. Does nothing
   * once closing has begun. @throws RangeError for a code that must not be sent.
   */
  close(code = 1000, reason = ''): void {
    if (this.#state !== 'open') return
    this.#sendClose(code, reason)
    this.#state = 'closing'
    // A paused connection reads again, to get the peer's Close frame. Messages before that frame are dropped.
    this.resume()
  }

  /** Destroys the socket at once, without a Close frame. */
  terminate(): void {
    if (this.#state === 'closed') return
    this.#state = 'ending'
    this.#socket.destroy()
  }

  /** Reads bytes of the peer. Called by the listener of the socket. */
  received(chunk: Buffer): void {
    if (this.#state === 'ending') return
    if (this.#state === 'open') this.#heartbeat.heard()
    this.#intake ??= this.#openIntake()
    this.#intake.push(chunk)
    this.#read()
  }

  #openIntake(): Intake {
    const { maxFragments } = this.#limits
    const [inflater, onReady] = [this.#inflater, (): void => this.#goOn()]
    return new Intake({ maxMessageBytes: this.#maxMessageBytes, maxFragments, inflater, onReady })
  }

  get #isHeld(): boolean {
    return this.#isPaused || this.#intake?.isBusy === true
  }

  #goOn(): void {
    if (this.#isHeld) return
    this.#socket.resume()
    this.#read()
  }

  /** Reads messages. A call from inside of `onMessage` returns at once, because the running loop continues. */
  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    try {
      while (!this.#isHeld && this.#state !== 'ending' && this.#state !== 'closed') {
        const incoming = this.#intake?.next()
        if (incoming === undefined) break
        this.#handle(incoming)
      }
      if (this.#intake?.isBusy === true) this.#socket.pause()
      if (this.#intake?.isEmpty === true) this.#intake = undefined
    } finally {
      this.#isReading = false
    }
  }

  #handle(incoming: Exclude<Incoming, Undecoded>): void {
    switch (incoming.kind) {
      case 'text':
      case 'binary':
        if (this.#state === 'open') this.owner.onMessage?.(incoming)
        return
      case 'ping':
        return this.#pong(incoming.data)
      case 'pong':
        return
      case 'close':
        return this.#answerClose(incoming.code, incoming.reason)
      case 'broken':
        return this.#fail(incoming.rule)
      default:
        assertNever(incoming)
    }
  }

  /**
   * Answers a Ping. While the socket has not taken the last write, only the newest Ping gets an answer (section 5.5.3),
   * so that a flood of Pings fills no memory.
   */
  #pong(data: Buffer): void {
    if (this.#state !== 'open') return
    const frame = encodeFrame(opcodes.pong, data)
    if (this.#outbox.isWaiting) this.#outbox.pushUrgent(frame)
    else this.#outbox.push(frame)
  }

  /** Sends the peer's code back, unless this side sent a Close frame (section 5.5.1). Then ends this side of TCP. */
  #answerClose(code: number, reason: string): void {
    if (this.#state === 'open') {
      this.#sendClose(code === noCloseCode ? undefined : code)
      this.#closeCode = code
      this.#closeReason = reason
    }
    this.#end()
  }

  /** Fails the connection for a broken rule (section 7.1.7). */
  #fail(rule: Violation): void {
    const { closeCode, text } = violations[rule]
    if (this.#state === 'open') this.#sendClose(closeCode, text)
    this.#end()
  }

  #sendClose(code: number | undefined, reason = ''): void {
    this.#outbox.push(encodeClose(code, reason))
    this.#closeCode = code ?? noCloseCode
    this.#closeReason = reason
    this.#heartbeat.close()
    this.#closeTimer = setTimeout(() => this.terminate(), this.#limits.closeTimeoutMs)
  }

  /** Ends this side of TCP first (section 7.1.1). Bytes that still come are read and dropped, so no reset is sent. */
  #end(): void {
    this.#state = 'ending'
    this.#outbox.end()
  }

  /** Handles the end of the peer's side of TCP. Destroys the socket, unless this side is ending too. */
  ended(): void {
    if (this.#state !== 'ending') this.terminate()
  }

  closed(): void {
    this.#state = 'closed'
    clearTimeout(this.#closeTimer)
    this.#heartbeat.close()
    this.#outbox.close()
    this.#intake?.close()
    this.#inflater?.close()
    this.#socket.off('data', onData)
    this.#socket.off('end', onEnd)
    this.#socket.off('error', onError)
    this.#socket.off('close', onClose)
    this.owner.onClose?.(this.#closeCode, this.#closeReason)
  }

  /** Called by the outbox when it is empty. */
  onEmpty(): void {
    if (this.#state === 'open') this.owner.onDrain?.()
  }

  /** Called by the outbox when the peer has not taken a write in time. */
  onStall(): void {
    this.close(tryAgainLater, 'No data was taken for too long')
  }

  /** Called by the heartbeat when the peer was silent for too long. Destroys the socket only while this side reads. */
  onSilence(): void {
    if (!this.#isHeld) this.terminate()
  }

  /** Sends a Ping for the heartbeat. Returns false, without a Ping, while this side does not read or a write waits. */
  ping(): boolean {
    if (this.#isHeld || this.#outbox.isWaiting) return false
    this.#outbox.push(encodeFrame(opcodes.ping, noData))
    return true
  }
}
