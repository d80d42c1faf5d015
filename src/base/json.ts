/**
 * JSON as it comes from outside: parsed within limits on its values and its nesting, and typed as `unknown` until a
 * validator has seen it.
 *
 * Values are counted in the text, before anything is built: what is built of 16 MiB of `{}` takes seconds and gigabytes.
 * A long string is one value, so that an image costs no more than its bytes. `JSON.parse` itself is safe against
 * `__proto__` (it makes an own property), and the limit on depth lets every later walk recurse. Not a formatter: what
 * leaves the server is printed by `JSON.stringify` once, by whoever owns the bytes.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

/** Deeper than any real message, shallow enough for every recursive walk in this program. */
export const maxJsonDepth = 200

/** How many values one text from outside may hold where no option says otherwise. */
export const usualValueLimit = 50_000

/**
 * Parses one JSON text from outside.
 * @throws SyntaxError when the text is not JSON, TooManyValuesError, RangeError when it nests deeper than `maxJsonDepth`.
 */
export function parseJson(text: string, valueLimit = usualValueLimit): unknown {
  // A text has more characters than values, and most texts are short.
  if (text.length > valueLimit) assertFewValues(text, valueLimit)
  const value: unknown = JSON.parse(text)
  // Each level takes two brackets, so a short text cannot be deep; and most messages are short.
  if (text.length > 2 * maxJsonDepth && isContainer(value) && nestsDeeper(value, maxJsonDepth)) {
    throw new RangeError(`JSON nests deeper than ${maxJsonDepth} levels`)
  }
  return value
}

/**
 * Parses a text that this server wrote itself. It has no limits: a record stands around what was let in at the limits.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseOwnJson(text: string): unknown {
  return JSON.parse(text)
}

/** @throws TooManyValuesError when the text holds more values than that. */
export function assertFewValues(text: string, valueLimit: number): void {
  if (countValues(text, valueLimit) > valueLimit) throw new TooManyValuesError(valueLimit)
}

/** A JSON text that was refused before anything was built of it. */
export class TooManyValuesError extends RangeError {
  override readonly name = 'TooManyValuesError'

  constructor(valueLimit: number) {
    super(`JSON holds more than ${valueLimit} values`)
  }
}

/**
 * How many values a JSON text holds, at most: brackets that open, commas and colons outside of strings. So a name of a
 * member counts like a value. Counting stops above `most`. A text that is not JSON has a number too.
 */
export function countValues(text: string, most: number): number {
  let count = 0
  for (let index = 0; index < text.length && count <= most; index++) {
    switch (text.charCodeAt(index)) {
      case quote: index = endOfString(text, index + 1); break
      case 0x5b: case 0x7b: case 0x2c: case 0x3a: count++
    }
  }
  return count
}

const quote = 0x22
const backslash = 0x5c
/** A string that is longer is searched for its end by the engine, many characters in one step. */
const shortString = 64

/** The place of the quote that ends the string whose first character is at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let index = start
  for (;;) {
    for (const stop = index + shortString; index < stop; index++) {
      const unit = text.charCodeAt(index)
      if (unit === quote || index >= text.length) return index
      if (unit === backslash) index++
    }
    const end = text.indexOf('"', index)
    if (end === -1) return text.length
    // The quote is a part of the string if a backslash is before it, unless that is escaped itself: look from there.
    if (end === index || text.charCodeAt(end - 1) !== backslash) return end
    index = startOfBackslashes(text, index, end - 1)
  }
}

/** Where the backslashes begin of which the last is at `last`. What is before `from` has been read. */
function startOfBackslashes(text: string, from: number, last: number): number {
  let index = last
  while (index > from && text.charCodeAt(index - 1) === backslash) index--
  return index
}

/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same, for what is known to be JSON. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value)
}

/** A copy of a value that a validator has passed, as the plain JSON that it is. */
export function toJsonObject(value: object): JsonObject {
  const copy: JsonValue = JSON.parse(JSON.stringify(value))
  if (!isJsonObject(copy)) throw new TypeError('Expected an object')
  return copy
}

type Container = unknown[] | Record<string, unknown>

/** Walks the value, not the text: long strings, which most large messages are made of, cost nothing then. */
function nestsDeeper(value: Container, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const member of value) {
      if (isContainer(member) && nestsDeeper(member, levels - 1)) return true
    }
    return false
  }
  // Measured to be faster than Object.values, which makes an array for each of a message's many small objects.
  for (const name in value) {
    const member = value[name]
    if (isContainer(member) && nestsDeeper(member, levels - 1)) return true
  }
  return false
}

/** Asked of every member, so that no call is made for the many that hold nothing. */
function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
