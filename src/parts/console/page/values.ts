/**
 * Reads members of JSON from the server. Nothing throws: a member of another type is read as absent.
 */

export type Members = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the member at a path of names; undefined if there is none. */
export function memberAt(value: unknown, ...path: readonly string[]): unknown {
  let inner = value
  for (const name of path) inner = isObject(inner) ? inner[name] : undefined
  return inner
}

/** Returns the text at a path; empty when there is no text. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = memberAt(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** Returns the array at a path; empty when there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = memberAt(value, ...path)
  return Array.isArray(found) ? found : []
}

/** Returns the object at a path; empty when there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): Members {
  const found = memberAt(value, ...path)
  return isObject(found) ? found : {}
}

/** Returns the number at a path; undefined when there is no number. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = memberAt(value, ...path)
  return typeof found === 'number' ? found : undefined
}
