/**
 * JSON as it comes from outside: parsed with a limit on nesting, and typed as `unknown` until a validator has seen it.
 *
 * `JSON.parse` itself is safe against `__proto__` (it makes an own property), so the only guard needed is depth:
 * everything that walks a value afterwards may recurse. Not a formatter: what leaves the server is printed by
 * `JSON.stringify` once, by whoever owns the bytes.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

/** Deeper than any real message, shallow enough for every recursive walk in this program. */
export const maxJsonDepth = 200

/**
 * Parses one JSON text.
 * @throws SyntaxError when the text is not JSON, RangeError when it nests deeper than `maxJsonDepth`.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Each level takes two brackets, so a short text cannot be deep; and most messages are short.
  if (text.length > 2 * maxJsonDepth && isContainer(value) && nestsDeeper(value, maxJsonDepth)) {
    throw new RangeError(`JSON nests deeper than ${maxJsonDepth} levels`)
  }
  return value
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
