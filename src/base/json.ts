/**
 * Parses JSON. For a text from outside the server, the number of values and the levels of nesting are limited.
 *
 * Values are counted before the text is parsed, because parsing 16 MiB of `{}` takes seconds and gigabytes. The limit
 * on nesting makes recursion over a value safe.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

/** The most levels of nesting: more than in any real message, and few enough for recursion. */
export const maxJsonDepth = 200

/** The default limit for the number of values in a text from outside. */
export const usualValueLimit = 50_000

/**
 * Parses a JSON text from outside.
 * @throws SyntaxError when the text is not JSON; RangeError for too many values or levels
 */
export function parseJson(text: string, valueLimit = usualValueLimit): unknown {
  // A text has no more values than characters.
  if (text.length > valueLimit) assertFewValues(text, valueLimit)
  const value: unknown = JSON.parse(text)
  // Each level of nesting takes two characters, so a short text cannot nest too deep.
  if (text.length > 2 * maxJsonDepth && isContainer(value) && nestsDeeper(value, maxJsonDepth)) {
    throw new RangeError(`JSON nests deeper than ${maxJsonDepth} levels`)
  }
  return value
}

/** Parses JSON that this server wrote, with no limit on values or nesting. @throws SyntaxError if `text` is not JSON */
export function parseOwnJson(text: string): unknown {
  return JSON.parse(text)
}

/** @throws TooManyValuesError when `countValues` counts more than `valueLimit` values in the text */
export function assertFewValues(text: string, valueLimit: number): void {
  if (countValues(text, valueLimit) > valueLimit) throw new TooManyValuesError(valueLimit)
}

/** The error for a JSON text that was refused before it was parsed, because of its number of values. */
export class TooManyValuesError extends RangeError {
  override readonly name = 'TooManyValuesError'

  constructor(valueLimit: number) {
    super(`JSON holds more than ${valueLimit} values`)
  }
}

/**
 * Counts the characters `[`, `{`, `,` and `:` outside of strings, up to `most` + 1. In a JSON text, one of them stands
 * before each value other than the outermost. So the text has at most one value more than the returned count.
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
/** The number of characters of a string that are read one by one before `indexOf` searches for its end. */
const shortString = 64

/** Returns the offset of the first unescaped quote at or after `start`; without one, the length of the text or more. */
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
    // Backslashes before the quote may escape it. The loop reads on from the first of them.
    if (end === index || text.charCodeAt(end - 1) !== backslash) return end
    index = startOfBackslashes(text, index, end - 1)
  }
}

/** Returns the offset of the first backslash in the run of backslashes that ends at `last`; at least `from`. */
function startOfBackslashes(text: string, from: number, last: number): number {
  let index = last
  while (index > from && text.charCodeAt(index - 1) === backslash) index--
  return index
}

/** True for an object that is no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for an object that is no array. Call it only with values read from JSON, because members are not checked. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

/** Returns a plain JSON copy of a value that a validator accepted. */
export function toJsonObject(value: object): JsonObject {
  const copy: JsonValue = JSON.parse(JSON.stringify(value))
  if (!isJsonObject(copy)) throw new TypeError('Expected an object')
  return copy
}

type Container = unknown[] | Record<string, unknown>

function nestsDeeper(value: Container, levels: number): boolean {
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const member of value) {
      if (isContainer(member) && nestsDeeper(member, levels - 1)) return true
    }
    return false
  }
  // `for in` is faster than `Object.values`, which makes an array (measured).
  for (const name in value) {
    const member = value[name]
    if (isContainer(member) && nestsDeeper(member, levels - 1)) return true
  }
  return false
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
