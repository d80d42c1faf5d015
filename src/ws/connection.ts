/**
 * One WebSocket connection from its first frame to its last (RFC 6455, sections 5 to 7).
 *
 * It answers Pings, closes in both directions with a time-out, finds dead and stalled peers, and lets the owner slow
 * the peer down. The owner says so in the turn in which it gets the connection; its `onClose` is called exactly once,
 * last, and then no timer, listener or socket is left. Memory is bounded by the limits: one message coming in,
 * `maxBufferedBytes` and one frame going out. It knows nothing of what is sent.
 *
 * Servers have thousands of them that hear nothing, so what a connection shares with others it does not have a copy of,
 * and what reads messages is there only while one is coming in.
 *
 *     open --close()--> closing --Close of the peer--> ending --socket closed--> closed
 *     open --Close of the peer, or a broken rule, both answered by Close--> ending
 */
import type { Duplex } from 'node:stream'
import { assertNever } from '../base/errors.ts'
import type { Compressed, Incoming, Message } from './assembler.ts'
import { abnormalCloseCode, encodeClose, encodeFrame, encodeText, noCloseCode, opcodes } from './frame.ts'
import type { Departure } from './departure.ts'
import { Heartbeat, type HeartbeatOwner } from './heartbeat.ts'
import type { Inflater } from './inflater.ts'
import { Intake } from './intake.ts'
import type { ConnectionLimits } from './limits.ts'
import { Outbox, type OutboxOwner } from './outbox.ts'
import { violations } from './violation.ts'
import type { Violation } from './violation.ts'

/** What its owner is told. */
export interface ConnectionOwner {
  /** Messages in order; not called while paused, nor after the first Close frame of either side. Must not throw. */
  onMessage?: (message: Message) => void
  /** The socket has taken everything; a `send` that was refused before may be repeated. */
  onDrain?: () => void
  /** `code` of the first Close frame of either side; 1005 if it had none, 1006 if there was no such frame. */
  onClose?: (code: number, reason: string) => void
}

export interface ConnectionOptions {
  /** Kept as they are, so they can be shared too. */
  readonly limits: ConnectionLimits
  /** Only where permessage-deflate was negotiated. */
  readonly inflater?: Inflater | undefined
  /** Shared by connections that send the same frames. */
  readonly departure: Departure
}

type State = 'open' | 'closing' | 'ending' | 'closed'

const tryAgainLater = 1013
const noData = Buffer.alloc(0)
const nobody: ConnectionOwner = Object.freeze({})

export class WebSocketConnection implements OutboxOwner, HeartbeatOwner {
  owner = nobody
  readonly #socket: Duplex
  readonly #limits: ConnectionLimits
  readonly #inflater: Inflater | undefined
  readonly #outbox: Outbox
  readonly #heartbeat: Heartbeat
  #maxMessageBytes: number
  /** From the first byte of what comes in until all of it was told. */
  #intake: Intake | undefined
  #state: State = 'open'
  #isPaused = false
  #isReading = false
  #closeTimer: NodeJS.Timeout | undefined
  #closeCode = abnormalCloseCode
  #closeReason = ''

  /** `socket` must be open and have finished the handshake; it belongs to the connection from here on. */
  constructor(socket: Duplex, { limits, inflater, departure }: ConnectionOptions) {
    this.#socket = socket
    this.#limits = limits
    this.#inflater = inflater
    this.#maxMessageBytes = limits.maxMessageBytes
    this.#outbox = new Outbox(socket, { limits, departure, owner: this })
    this.#heartbeat = new Heartbeat(limits, this)
    socket.on('data', this.#received)
    socket.on('end', this.#ended)
    socket.on('error', this.#failed)
    socket.on('close', this.#closed)
  }

  /** Whether frames made by `encodeCompressedText` may be sent. */
  get deflate(): boolean {
    return this.#inflater !== undefined
  }

  /** Outgoing bytes that this process still holds. */
  get bufferedBytes(): number {
    return this.#outbox.bufferedBytes
  }

  /** Whether `send` takes nothing now. */
  get isFull(): boolean {
    return this.#outbox.isFull
  }

  /** The limit of one incoming message; may be raised once the peer has earned it. */
  get maxMessageBytes(): number {
    return this.#maxMessageBytes
  }

  set maxMessageBytes(bytes: number) {
    this.#maxMessageBytes = bytes
    if (this.#intake !== undefined) this.#intake.maxMessageBytes = bytes
  }

  /** Takes a frame of `encodeText` or `encodeCompressedText`; false, without taking it, when full or no longer open. */
  send(frame: Buffer): boolean {
    if (this.#state !== 'open' || this.#outbox.isFull) return false
    this.#outbox.push(frame)
    return true
  }

  sendText(text: string | Uint8Array): boolean {
    return this.send(encodeText(text))
  }

  /** Stops reading messages; the rest of what was read already waits as well. */
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
   * Sends a Close frame after what is queued, waits for the peer's, ends. Without effect once closing has begun.
   * @throws RangeError for a code that must not be sent.
   */
  close(code = 1000, reason = ''): void {
    if (this.#state !== 'open') return
    this.#sendClose(code, reason)
    this.#state = 'closing'
    // The peer's Close frame may stand behind messages that nobody wants any more.
    this.resume()
  }

  /** Ends at once, without a word. */
  terminate(): void {
    if (this.#state === 'closed') return
    this.#state = 'ending'
    this.#socket.destroy()
  }

  readonly #received = (chunk: Buffer): void => {
    if (this.#state === 'ending') return
    if (this.#state === 'open') this.#heartbeat.heard()
    this.#intake ??= this.#openIntake()
    this.#intake.push(chunk)
    this.#read()
  }

  #openIntake(): Intake {
    const { maxFragments } = this.#limits
    return new Intake({ maxMessageBytes: this.#maxMessageBytes, maxFragments, inflater: this.#inflater, onReady: () => this.#goOn() })
  }

  get #isHeld(): boolean {
    return this.#isPaused || this.#intake?.isBusy === true
  }

  #goOn(): void {
    if (this.#isHeld) return
    this.#socket.resume()
    this.#read()
  }

  /** Not entered again from a callback: `resume` inside `onMessage` lets the running loop go on. */
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

  #handle(incoming: Exclude<Incoming, Compressed>): void {
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
   * While the socket takes nothing, only the newest Ping is answered (section 5.5.3): a flood of them is harmless. None
   * is after our own Close frame, behind which nothing is sent (section 1.4).
   */
  #pong(data: Buffer): void {
    if (this.#state !== 'open') return
    const frame = encodeFrame(opcodes.pong, data)
    if (this.#outbox.isWaiting) this.#outbox.pushUrgent(frame)
    else this.#outbox.push(frame)
  }

  /** Section 5.5.1: the answer repeats the code. */
  #answerClose(code: number, reason: string): void {
    if (this.#state === 'open') {
      this.#sendClose(code === noCloseCode ? undefined : code)
      this.#closeCode = code
      this.#closeReason = reason
    }
    this.#end()
  }

  /** Section 7.1.7 */
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

  /** Ends the TCP connection first (section 7.1.1) but reads on, so that no reset overtakes the last frame. */
  #end(): void {
    this.#state = 'ending'
    this.#outbox.end()
  }

  /** The peer sends no more. Without its Close frame, nothing that waits for it is worth sending. */
  readonly #ended = (): void => {
    if (this.#state !== 'ending') this.terminate()
  }

  /** What follows is `close`, which tells the owner. */
  readonly #failed = (): void => {
    this.terminate()
  }

  readonly #closed = (): void => {
    this.#state = 'closed'
    clearTimeout(this.#closeTimer)
    this.#heartbeat.close()
    this.#outbox.close()
    this.#intake?.close()
    this.#inflater?.close()
    this.#socket.off('data', this.#received)
    this.#socket.off('end', this.#ended)
    this.#socket.off('error', this.#failed)
    this.#socket.off('close', this.#closed)
    this.owner.onClose?.(this.#closeCode, this.#closeReason)
  }

  /** For the outbox. */
  onEmpty(): void {
    if (this.#state === 'open') this.owner.onDrain?.()
  }

  /** For the outbox. */
  onStall(): void {
    this.close(tryAgainLater, 'No data was taken for too long')
  }

  /** For the heartbeat. */
  onSilence(): void {
    if (!this.#isHeld) this.terminate()
  }

  /** For the heartbeat. A peer that is not read cannot answer, and one that has yet to take something may be stalled. */
  ping(): boolean {
    if (this.#isHeld || this.#outbox.isWaiting) return false
    this.#outbox.push(encodeFrame(opcodes.ping, noData))
    return true
  }
}
