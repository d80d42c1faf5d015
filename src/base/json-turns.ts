/**
 * Parses long JSON texts in several turns of the event loop: the bytes are decoded piece by piece, then the values are
 * counted, then the text is parsed.
 *
 * So a text of 16 MiB, which may be one image, holds up nobody. A short one is parsed at once, without a promise. Not for
 * texts of any length: each of the last two steps is one turn, so whoever calls has a limit on the bytes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertFewValues, parseJson, parseOwnJson, usualValueLimit } from './json.ts'

/** A text up to this length is dealt with in one turn. */
export const turnBytes = 1024 * 1024

/** @throws SyntaxError, TooManyValuesError, RangeError as `parseJson`; for a long text as a rejection. */
export function parseJsonBytes(bytes: Buffer, valueLimit?: number): unknown {
  return bytes.length <= turnBytes ? parseJson(bytes.toString(), valueLimit) : parseLong(bytes, valueLimit)
}

/** The same for a text that is decoded already. */
export async function parseJsonText(text: string, valueLimit = usualValueLimit): Promise<unknown> {
  if (text.length <= turnBytes) return parseJson(text, valueLimit)
  await nextTurn()
  assertFewValues(text, valueLimit)
  await nextTurn()
  return parseJson(text, Infinity)
}

/**
 * As `parseOwnJson`, of bytes. A long text is there in a turn of its own, so that reading it and using it are no part of
 * the turn that parses it.
 * @throws SyntaxError when the text is not JSON; for a long text as a rejection.
 */
export function parseOwnJsonBytes(bytes: Buffer): unknown {
  return bytes.length <= turnBytes ? parseOwnJson(bytes.toString()) : parseOwnLong(bytes)
}

async function parseOwnLong(bytes: Buffer): Promise<unknown> {
  const text = await decodeInTurns(bytes)
  await nextTurn()
  const value = parseOwnJson(text)
  await nextTurn()
  return value
}

async function parseLong(bytes: Buffer, valueLimit?: number): Promise<unknown> {
  return parseJsonText(await decodeInTurns(bytes), valueLimit)
}

async function decodeInTurns(bytes: Buffer): Promise<string> {
  // A byte order mark stays, as in a short text: JSON may not begin with one.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  for (let start = 0; start < bytes.length; start += turnBytes) {
    text += decoder.decode(bytes.subarray(start, start + turnBytes), { stream: true })
    await nextTurn()
  }
  return text + decoder.decode()
}
