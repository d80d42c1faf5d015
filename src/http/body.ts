/**
 * Reads the body of a request as JSON, as bytes or in pieces, within limits of bytes and of time.
 *
 * JSON must be UTF-8 (RFC 8259, section 8.1), and no object may have the same name twice (`json-members`). Compressed
 * JSON is refused.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, messageOf, type Issue } from '../base/errors.ts'
import { findJsonFault } from '../base/json-fault.ts'
import { parseJsonBytes } from '../base/json-turns.ts'
import { within } from '../base/wait.ts'
import { announcesBody, singleHeader } from './headers.ts'
import { hasDoubledMember } from './json-members.ts'

export interface BodyLimits {
  readonly limitBytes: number
  /** The time limit for the whole body, from the start of reading. */
  readonly timeoutMs: number
  /** The most values in a JSON body. Default: `usualValueLimit`. */
  readonly valueLimit?: number
}

export type BodyResult =
  /** `value` is undefined when the request has no body or an empty body. */
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * Reads and parses the body.
 * @throws AppError `unsupported_media_type`, `body_too_large`, `request_timeout`; `bad_request` when the client has
 * gone or sent two content types
 */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<BodyResult> {
  if (!announcesBody(request)) return { ok: true, value: undefined }
  assertJson(request)
  const bytes = await readBytes(request, limits)
  return bytes.length === 0 ? { ok: true, value: undefined } : parseBody(bytes, limits.valueLimit)
}

/**
 * Reads the body as bytes.
 * @throws AppError `body_too_large`, `request_timeout`, or `bad_request` when the client has gone
 */
export function readBytes(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { limitBytes, timeoutMs } = limits
  return new Promise((resolve, reject) => {
    if (request.readableEnded) throw new TypeError('The body of the request has been read already')
    if (request.destroyed) throw clientGone()
    if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
    const chunks: Buffer[] = []
    let size = 0
    const stop = (): void => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onClose).pause()
    }
    const fail = (error: AppError): void => {
      stop()
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limitBytes) fail(tooLarge(limitBytes))
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      stop()
      resolve(Buffer.concat(chunks, size))
    }
    const onClose = (): void => fail(clientGone())
    const timer = setTimeout(() => fail(tooSlow(timeoutMs)), timeoutMs)
    request.on('data', onData).on('end', onEnd).on('close', onClose)
  })
}

export interface PiecesLimits {
  readonly limitBytes: number
  /** The longest wait for the next piece. */
  readonly stallTimeoutMs: number
}

/**
 * Yields the body in pieces as they arrive. When the caller stops early, the remaining bytes stay unread.
 * @throws AppError `body_too_large`, `request_timeout`, or `bad_request` when the client has gone
 */
export async function* readPieces(
  request: IncomingMessage, { limitBytes, stallTimeoutMs }: PiecesLimits,
): AsyncGenerator<Buffer, void> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
  const pieces: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false })
  try {
    for (let size = 0; ;) {
      const next = await within(pieces.next(), stallTimeoutMs).catch(() => Promise.reject(clientGone()))
      if (next === 'late') throw tooSlow(stallTimeoutMs)
      if (next.done === true) return
      size += next.value.length
      if (size > limitBytes) throw tooLarge(limitBytes)
      yield next.value
    }
  } finally {
    // Removes the iterator's listeners. Not awaited, because the removal may have to wait for the next piece.
    void pieces.return?.().catch(() => undefined)
  }
}

/**
 * The longest body, in bytes, that is parsed and checked in one turn of the event loop. In a longer body no search is
 * made for the position of a fault: the position is reported as 0.
 */
const turnBytes = 1024 * 1024

/** Matches `application/json` or `application/...+json` in lower case, and its parameters (RFC 9110, section 8.3.1). */
const jsonType = /^application\/(?:[!#$&^_.+a-z0-9-]+\+)?json[ \t]*(?:;(.*))?$/

function assertJson(request: IncomingMessage): void {
  const type = singleHeader(request.rawHeaders, 'content-type') ?? ''
  const match = jsonType.exec(type.toLowerCase())
  const charset = /(?:^|;)[ \t]*charset="?([^";]*)"?/.exec(match?.[1] ?? '')?.[1]?.trim() ?? 'utf-8'
  if (match === null || (charset !== 'utf-8' && charset !== 'utf8')) {
    throw unsupported(`content type "${type.slice(0, 128)}"`, 'application/json in UTF-8')
  }
  const coding = request.headers['content-encoding'] ?? 'identity'
  if (coding.toLowerCase() !== 'identity') throw unsupported(`content encoding "${coding.slice(0, 128)}"`, 'none')
}

async function parseBody(bytes: Buffer, valueLimit: number | undefined): Promise<BodyResult> {
  if (!isUtf8(bytes)) return invalid(0, 'expected UTF-8')
  try {
    const value = await parseJsonBytes(bytes, valueLimit)
    if (bytes.length > turnBytes) await nextTurn()
    if (bytes.length > turnBytes) await nextTurn()
    return hasDoubledMember(bytes, value) ? invalid(0, 'expected each name once in an object') : { ok: true, value }
  } catch (error) {
    // The message of a SyntaxError is not shown, because it quotes the body.
    if (!(error instanceof SyntaxError)) return invalid(0, messageOf(error))
    const fault = bytes.length <= turnBytes ? findJsonFault(bytes.toString('utf8')) : undefined
    return invalid(fault?.offset ?? 0, fault?.reason ?? 'expected JSON')
  }
}

/** Returns a fault at `offset` of the JSON text as an issue in the form of FastAPI. */
function invalid(offset: number, reason: string): BodyResult {
  const ctx = { error: reason }
  const issue: Issue = { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx }
  return { ok: false, issues: [issue] }
}

function unsupported(what: string, expected: string): AppError {
  return new AppError('unsupported_media_type', `Could not read the body: ${what}, expected ${expected}`)
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('body_too_large', `Could not read the body: expected at most ${limitBytes} bytes`)
}

function tooSlow(timeoutMs: number): AppError {
  return new AppError('request_timeout', `Could not read the body: it was not complete after ${timeoutMs} ms`)
}

function clientGone(): AppError {
  return new AppError('bad_request', 'Could not read the body: the client closed the connection')
}
