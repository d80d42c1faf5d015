/**
 * A row of the tables for RFC 6455 and RFC 7692: the section, its demand in our words, the bytes of a client and the
 * right reaction of a server connection. Also the frames that the tables are written with.
 */
import { frame, type FrameOptions } from '../../support/ws-client.ts'
import type { ExchangeOptions } from '../../support/ws-wire.ts'

export interface Row extends Omit<ExchangeOptions, 'pieceBytes'> {
  readonly section: string
  readonly says: string
  readonly sends: Buffer
  /** The frames of the server, as `framesOf` tells them. */
  readonly gets?: readonly string[]
  /** The messages that the owner of the connection is given. */
  readonly hears?: readonly string[]
  /** The arguments of `onClose`; a row without it leaves the connection open. */
  readonly closed?: string | RegExp
  /** Too long for single bytes. */
  readonly isLong?: boolean
}

export const text = (payload: string | Buffer, options?: FrameOptions): Buffer =>
  frame(0x1, Buffer.from(payload), options)
export const binary = (payload: string | Buffer, options?: FrameOptions): Buffer =>
  frame(0x2, Buffer.from(payload), options)
export const more = (payload: string | Buffer, options?: FrameOptions): Buffer =>
  frame(0x0, Buffer.from(payload), options)
export const ping = (payload: string | Buffer, options?: FrameOptions): Buffer =>
  frame(0x9, Buffer.from(payload), options)
export const pong = (payload: string | Buffer, options?: FrameOptions): Buffer =>
  frame(0xa, Buffer.from(payload), options)
export const open = { final: false } as const

export function close(code?: number, reason: string | Buffer = ''): Buffer {
  if (code === undefined) return frame(0x8, Buffer.alloc(0))
  return frame(0x8, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]))
}

export const bytes = (...parts: readonly (Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)))
