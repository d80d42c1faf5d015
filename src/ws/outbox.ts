/**
 * The frames that wait for a socket, written at the pace of the peer.
 *
 * Frames that are pushed in one turn of the event loop are written together, at most 64 KiB at a time. `push` never
 * refuses: `isFull` tells the owner when to stop.
 */
import type { Duplex } from 'node:stream'
import type { Departing, Departure } from './departure.ts'

export interface OutboxOptions {
  readonly limits: OutboxLimits
  /** Schedules the writes of this outbox and of other outboxes. */
  readonly departure: Departure
  readonly owner: OutboxOwner
}

export interface OutboxLimits {
  /** The outbox is full when its frames have this many bytes or more. */
  readonly maxBufferedBytes: number
  /** The time that one write may wait for the peer before `onStall` is called. */
  readonly stallTimeoutMs: number
}

export interface OutboxOwner {
  /** Called when the socket has taken all frames. */
  onEmpty(): void
  onStall(): void
}

/** The most bytes of one write: few enough that a slow peer takes a write within the stall time-out. */
const batchBytes = 64 * 1024
const noData = Buffer.alloc(0)

export class Outbox implements Departing {
  readonly #socket: Duplex
  readonly #limits: OutboxLimits
  readonly #departure: Departure
  readonly #owner: OutboxOwner
  readonly #queue: Buffer[] = []
  /** True when the first entry of the queue is the rest of a frame whose beginning was written. */
  #isInsideFrame = false
  #urgent: Buffer | undefined
  #queuedBytes = 0
  #writingBytes = 0
  /** True when a write is scheduled for the end of this turn of the event loop. */
  #isLeaving = false
  #stall: NodeJS.Timeout | undefined
  #hasEnd = false
  #isClosed = false

  constructor(socket: Duplex, { limits, departure, owner }: OutboxOptions) {
    this.#socket = socket
    this.#limits = limits
    this.#departure = departure
    this.#owner = owner
  }

  /** The number of bytes that the socket has not taken yet. An urgent frame that waits is not counted. */
  get bufferedBytes(): number {
    return this.#queuedBytes + this.#writingBytes
  }

  get isFull(): boolean {
    return this.bufferedBytes >= this.#limits.maxBufferedBytes
  }

  /** True while the socket has not taken the last write. */
  get isWaiting(): boolean {
    return this.#writingBytes > 0
  }

  push(frame: Buffer): void {
    this.#queue.push(frame)
    this.#queuedBytes += frame.length
    this.#schedule()
  }

  /** Sends a small frame before the queue, but after a partly written frame. Replaces an urgent frame that waits. */
  pushUrgent(frame: Buffer): void {
    this.#urgent = frame
    this.#schedule()
  }

  /** Ends the socket when it has taken all frames. Nothing may be pushed afterwards. */
  end(): void {
    this.#hasEnd = true
    this.#schedule()
  }

  /** Drops all waiting frames. Idempotent. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#stall)
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#urgent = undefined
  }

  #schedule(): void {
    if (this.isWaiting || this.#isLeaving) return
    this.#isLeaving = true
    this.#departure.add(this)
  }

  /** Writes, unless the outbox is closed. Only Departure calls it. */
  depart(): void {
    this.#isLeaving = false
    if (!this.#isClosed) this.#write()
  }

  /** Writes batches until the socket has to queue one. When none is left, ends the socket or calls `onEmpty`. */
  #write(): void {
    // A failed socket is destroyed, and its owner then closes this outbox.
    while (this.#socket.writable) {
      const batch = this.#takeBatch()
      if (batch === undefined) {
        if (this.#hasEnd) this.#socket.end()
        else this.#owner.onEmpty()
        return
      }
      this.#socket.write(batch)
      if (this.#socket.writableLength > 0) return this.#wait(batch.length)
    }
  }

  /** Waits until the socket has taken all writes. The callback of an empty write after them tells when this is so. */
  #wait(bytes: number): void {
    this.#writingBytes = bytes
    this.#stall = setTimeout(() => this.#owner.onStall(), this.#limits.stallTimeoutMs)
    this.#socket.write(noData, (error) => this.#taken(error))
  }

  #taken(error: Error | null | undefined): void {
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#writingBytes = 0
    if (!error && !this.#isClosed) this.#write()
  }

  /** Takes up to `batchBytes` from the queue: a piece of a large frame, or whole frames. Undefined if none wait. */
  #takeBatch(): Buffer | undefined {
    if (this.#urgent !== undefined && !this.#isInsideFrame) this.#takeUrgent(this.#urgent)
    const first = this.#queue[0]
    if (first === undefined) return undefined
    const batch = first.length > batchBytes ? this.#takePiece(first) : this.#takeFrames(first)
    this.#queuedBytes -= batch.length
    return batch
  }

  #takeUrgent(frame: Buffer): void {
    this.#urgent = undefined
    this.#queue.unshift(frame)
    this.#queuedBytes += frame.length
  }

  #takePiece(frame: Buffer): Buffer {
    this.#queue[0] = frame.subarray(batchBytes)
    this.#isInsideFrame = true
    return frame.subarray(0, batchBytes)
  }

  #takeFrames(first: Buffer): Buffer {
    this.#isInsideFrame = false
    if (this.#queue.length === 1) {
      this.#queue.pop()
      return first
    }
    let count = 0
    let bytes = 0
    for (const frame of this.#queue) {
      bytes += frame.length
      if (bytes > batchBytes) break
      count++
    }
    return this.#departure.join(this.#queue.splice(0, count))
  }
}
