/**
 * Assembles frames into messages (RFC 6455, sections 5.4 to 5.6 and 8.1; RFC 7692, section 7.2.2).
 *
 * Control frames may come between the fragments of a message. A compressed message and a long text are returned
 * undecoded. A broken rule is returned, not thrown.
 */
import { isUtf8 } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertNever } from '../base/errors.ts'
import { Collector } from './collector.ts'
import { isCloseCode, noCloseCode, opcodes } from './frame.ts'
import type { Frame } from './parser.ts'
import { carryUtf8 } from './utf8.ts'
import { broken } from './violation.ts'
import type { Broken } from './violation.ts'

export type Message =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly data: Buffer }

/** A message that is compressed, or a text that is too long to be decoded in one turn of the event loop. */
export interface Undecoded {
  readonly kind: 'undecoded'
  readonly of: Message['kind']
  readonly isCompressed: boolean
  readonly payload: Buffer
}

export type Incoming =
  | Message
  | Undecoded
  | { readonly kind: 'ping' | 'pong'; readonly data: Buffer }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  | Broken

export interface AssemblerOptions {
  /** The most bytes in the payloads of a whole message, compressed or not. */
  readonly maxMessageBytes: number
  readonly maxFragments: number
}

/** A data message whose last frame has not come yet. */
interface Unfinished {
  readonly kind: Message['kind']
  readonly compressed: boolean
  readonly collector: Collector
  fragments: number
  /** The incomplete character at the end of the text (utf8.ts); empty for a binary or compressed message. */
  carry: Buffer
}

const empty = Buffer.alloc(0)
/** The most bytes of a text that are decoded in one turn of the event loop. */
const decodedInTurn = 1024 * 1024

export class Assembler {
  maxMessageBytes: number
  readonly #maxFragments: number
  #message: Unfinished | undefined

  constructor(options: AssemblerOptions) {
    this.maxMessageBytes = options.maxMessageBytes
    this.#maxFragments = options.maxFragments
  }

  /** True between messages: no part of a message is stored. */
  get isEmpty(): boolean {
    return this.#message === undefined
  }

  /** The longest payload that the next data frame may have. */
  get remainingBytes(): number {
    return this.maxMessageBytes - (this.#message?.collector.length ?? 0)
  }

  /** Adds a frame. Returns a completed message, a control frame or a broken rule; undefined if the message goes on. */
  add(frame: Frame): Incoming | undefined {
    switch (frame.opcode) {
      case opcodes.text:
      case opcodes.binary:
        if (this.#message !== undefined) return broken('continuation_expected')
        return this.#begin(frame.opcode === opcodes.text ? 'text' : 'binary', frame)
      case opcodes.continuation:
        if (this.#message === undefined) return broken('continuation_unexpected')
        return this.#append(this.#message, frame)
      case opcodes.ping:
        return { kind: 'ping', data: frame.payload }
      case opcodes.pong:
        return { kind: 'pong', data: frame.payload }
      case opcodes.close:
        return readClose(frame.payload)
      default:
        return assertNever(frame.opcode)
    }
  }

  #begin(kind: Message['kind'], frame: Frame): Incoming | undefined {
    if (frame.final) return finish(kind, frame.compressed, frame.payload)
    this.#message = { kind, compressed: frame.compressed, collector: new Collector(), fragments: 0, carry: empty }
    return this.#append(this.#message, frame)
  }

  #append(message: Unfinished, frame: Frame): Incoming | undefined {
    message.fragments++
    if (message.fragments > this.#maxFragments) return broken('too_many_fragments')
    if (message.kind === 'text' && !message.compressed) {
      const carry = carryUtf8(message.carry, frame.payload)
      if (carry === undefined) return broken('text_not_utf8')
      message.carry = carry
    }
    message.collector.append(frame.payload)
    if (!frame.final) return undefined
    this.#message = undefined
    return finish(message.kind, message.compressed, message.collector.take())
  }
}

/** Returns the message in these bytes, or the rule that they break. */
export function messageOf(kind: Message['kind'], data: Buffer): Message | Broken {
  if (kind === 'binary') return { kind, data }
  return isUtf8(data) ? { kind, text: data.toString() } : broken('text_not_utf8')
}

/** Does the work of `messageOf`, but decodes a long text in several turns of the event loop. */
export async function messageInTurns(kind: Message['kind'], data: Buffer): Promise<Message | Broken> {
  if (kind === 'binary' || data.length <= decodedInTurn) return messageOf(kind, data)
  if (!isUtf8(data)) return broken('text_not_utf8')
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let start = 0; start < data.length; start += decodedInTurn) {
    await nextTurn()
    text += decoder.write(data.subarray(start, start + decodedInTurn))
  }
  await nextTurn()
  return { kind, text }
}

function finish(kind: Message['kind'], isCompressed: boolean, payload: Buffer): Message | Undecoded | Broken {
  const isLong = kind === 'text' && payload.length > decodedInTurn
  return isCompressed || isLong ? { kind: 'undecoded', of: kind, isCompressed, payload } : messageOf(kind, payload)
}

/** Reads the payload of a Close frame: nothing, or a code and a reason (section 5.5.1). */
function readClose(payload: Buffer): Incoming {
  if (payload.length === 0) return { kind: 'close', code: noCloseCode, reason: '' }
  if (payload.length === 1) return broken('close_length')
  const code = payload.readUInt16BE(0)
  if (!isCloseCode(code)) return broken('close_code')
  const reason = payload.subarray(2)
  return isUtf8(reason) ? { kind: 'close', code, reason: reason.toString() } : broken('close_reason')
}
