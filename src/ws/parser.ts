/**
 * Parses the bytes of a client into frames (RFC 6455, section 5.2).
 *
 * `push` adds a chunk, which may end at any byte. The parser owns pushed chunks and writes to them. `next` returns one
 * frame at a time, or a broken rule.
 */
import { Collector } from './collector.ts'
import { maxControlBytes, opcodes } from './frame.ts'
import type { Opcode } from './frame.ts'
import { unmask } from './mask.ts'
import { broken } from './violation.ts'
import type { Broken, Violation } from './violation.ts'

export interface Frame {
  readonly kind: 'frame'
  readonly opcode: Opcode
  readonly final: boolean
  /** True when RSV1 is set: a compressed message begins (RFC 7692, section 6). */
  readonly compressed: boolean
  readonly payload: Buffer
}

type State = 'start' | 'length_16' | 'length_64' | 'mask_key' | 'payload' | 'broken'

const empty = Buffer.alloc(0)

export class Parser {
  readonly #deflate: boolean
  /** Collects a payload that comes in several chunks. */
  #collector: Collector | undefined
  #chunk: Buffer = empty
  #offset = 0
  #state: State = 'start'
  #opcode: Opcode = opcodes.continuation
  #final = false
  #compressed = false
  #payloadLength = 0
  /** The mask key as a number, the first byte in the lowest bits. */
  #maskKey = 0

  /** @param deflate true when permessage-deflate was negotiated: RSV1 may then be set */
  constructor(deflate: boolean) {
    this.#deflate = deflate
  }

  /** True when every pushed byte belongs to a frame that `next` has returned. */
  get isEmpty(): boolean {
    return this.#state === 'start' && this.#offset === this.#chunk.length
  }

  push(chunk: Buffer): void {
    const isUsedUp = this.#offset === this.#chunk.length
    this.#chunk = isUsedUp ? chunk : Buffer.concat([this.#chunk.subarray(this.#offset), chunk])
    this.#offset = 0
  }

  /**
   * Returns the next frame, or a broken rule. A data frame whose payload exceeds `limitBytes` breaks a rule. Returns
   * undefined if more bytes are needed, and always after a broken rule.
   */
  next(limitBytes: number): Frame | Broken | undefined {
    for (;;) {
      let rule: Violation | undefined
      switch (this.#state) {
        case 'start':
          if (!this.#has(2)) return undefined
          rule = this.#start(this.#takeNumber(1), this.#takeNumber(1), limitBytes)
          break
        case 'length_16':
          if (!this.#has(2)) return undefined
          rule = this.#extendedLength(this.#takeNumber(2), 126, limitBytes)
          break
        case 'length_64':
          if (!this.#has(8)) return undefined
          rule = this.#length64(this.#takeNumber(4), this.#takeNumber(4), limitBytes)
          break
        case 'mask_key':
          if (!this.#has(4)) return undefined
          this.#maskKey = this.#chunk.readInt32LE(this.#offset)
          this.#offset += 4
          this.#state = 'payload'
          break
        case 'payload':
          return this.#readPayload()
        case 'broken':
          return undefined
      }
      if (rule !== undefined) {
        this.#state = 'broken'
        this.#chunk = empty
        this.#offset = 0
        return broken(rule)
      }
    }
  }

  /** Reads the first two bytes (FIN, RSV1-3, opcode; MASK, payload length). Returns the rule they break, if any. */
  #start(first: number, second: number, limitBytes: number): Violation | undefined {
    const opcode = opcodeOf(first & 0x0f)
    if (opcode === undefined) return 'opcode_unknown'
    this.#opcode = opcode
    this.#final = (first & 0x80) !== 0
    this.#compressed = (first & 0x40) !== 0
    const mayCompress = this.#deflate && (opcode === opcodes.text || opcode === opcodes.binary)
    if ((first & 0x30) !== 0 || (this.#compressed && !mayCompress)) return 'reserved_bit'
    if ((second & 0x80) === 0) return 'mask_missing'
    const length = second & 0x7f
    if (isControl(opcode)) {
      if (!this.#final) return 'control_fragmented'
      if (length > maxControlBytes) return 'control_too_long'
    }
    if (length < 126) return this.#length(length, limitBytes)
    this.#state = length === 126 ? 'length_16' : 'length_64'
    return undefined
  }

  #length64(high: number, low: number, limitBytes: number): Violation | undefined {
    if (high >= 0x8000_0000) return 'length_high_bit'
    return this.#extendedLength(high * 0x1_0000_0000 + low, 0x10000, limitBytes)
  }

  #extendedLength(length: number, minimum: number, limitBytes: number): Violation | undefined {
    return length < minimum ? 'length_not_minimal' : this.#length(length, limitBytes)
  }

  #length(length: number, limitBytes: number): Violation | undefined {
    if (length > limitBytes && !isControl(this.#opcode)) return 'message_too_large'
    this.#payloadLength = length
    this.#state = 'mask_key'
    return undefined
  }

  #readPayload(): Frame | undefined {
    const payload = this.#takePayload()
    if (payload === undefined) return undefined
    unmask(payload, this.#maskKey)
    this.#state = 'start'
    return { kind: 'frame', opcode: this.#opcode, final: this.#final, compressed: this.#compressed, payload }
  }

  #takePayload(): Buffer | undefined {
    const piece = this.#take(this.#payloadLength - (this.#collector?.length ?? 0))
    if (piece.length === this.#payloadLength) return piece
    this.#collector ??= new Collector()
    this.#collector.append(piece)
    return this.#collector.length === this.#payloadLength ? this.#collector.take() : undefined
  }

  /** True when the chunk has at least `length` unread bytes. Fewer bytes stay in the chunk until more are pushed. */
  #has(length: number): boolean {
    return this.#chunk.length - this.#offset >= length
  }

  /** Reads the next bytes as a number, in network order. */
  #takeNumber(length: number): number {
    const number = this.#chunk.readUIntBE(this.#offset, length)
    this.#offset += length
    return number
  }

  #take(length: number): Buffer {
    const piece = this.#chunk.subarray(this.#offset, this.#offset + length)
    this.#offset += piece.length
    if (this.#offset === this.#chunk.length) {
      this.#chunk = empty
      this.#offset = 0
    }
    return piece
  }
}

function isControl(opcode: Opcode): boolean {
  return opcode >= opcodes.close
}

function opcodeOf(bits: number): Opcode | undefined {
  switch (bits) {
    case opcodes.continuation:
    case opcodes.text:
    case opcodes.binary:
    case opcodes.close:
    case opcodes.ping:
    case opcodes.pong:
      return bits
    default:
      return undefined
  }
}
