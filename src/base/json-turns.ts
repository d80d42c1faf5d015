/**
 * Parses long JSON texts in several turns of the event loop, so that other work can run between them.
 *
 * Decoding takes several turns. Counting the values and parsing take one turn each, so the caller must limit the bytes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertFewValues, parseJson, parseOwnJson, usualValueLimit } from './json.ts'

/** A text of at most this many bytes or characters is parsed in one turn. A longer text is decoded in such pieces. */
export const turnBytes = 2 * 1024 * 1024

/** Parses a JSON text from outside. Returns a promise for more than `turnBytes` bytes. Fails as `parseJson` does. */
export function parseJsonBytes(bytes: Buffer, valueLimit?: number): unknown {
  return bytes.length <= turnBytes ? parseJson(bytes.toString(), valueLimit) : parseLong(bytes, valueLimit)
}

/** Parses a decoded JSON text from outside. Rejects with the errors of `parseJson`. */
export async function parseJsonText(text: string, valueLimit = usualValueLimit): Promise<unknown> {
  if (text.length <= turnBytes) return parseJson(text, valueLimit)
  await nextTurn()
  assertFewValues(text, valueLimit)
  await nextTurn()
  return parseJson(text, Infinity)
}

/**
 * Parses a JSON text that this server wrote, with no limit on values or nesting. Returns the value, or a promise of the
 * value when there are more than `turnBytes` bytes.
 * @throws SyntaxError, or rejects with it, when the text is not JSON
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
  // Keeps a byte order mark, so that the parser refuses it.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  for (let start = 0; start < bytes.length; start += turnBytes) {
    text += decoder.decode(bytes.subarray(start, start + turnBytes), { stream: true })
    await nextTurn()
  }
  return text + decoder.decode()
}
