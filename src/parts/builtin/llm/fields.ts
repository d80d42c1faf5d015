/**
 * Reads single members of what a provider has sent.
 *
 * Compatible servers leave members out, send null where a value was and add their own. So nothing here throws: a member
 * of another type counts as absent.
 */
import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** What was parsed as JSON, as the object it should be; empty for anything else. */
export function objectOf(value: unknown): JsonObject {
  return isJsonRecord(value) ? value : {}
}

/** The string if it is one and has a character. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A count or an amount: a finite number that is not negative. */
export function amountOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** The objects among the elements of an array; empty for anything else. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonRecord) : []
}

/** The object without the members that are undefined. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = {}
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) object[name] = value
  }
  return object
}

/** True for an object; it came out of `JSON.parse`, so what it holds is JSON too. */
function isJsonRecord(value: unknown): value is JsonObject {
  return isObject(value)
}

/** One object with the members of both, or the first alone when it would have more than any provider sends. */
export function withFew(before: JsonObject, more: JsonObject): JsonObject {
  const added = Object.keys(more).filter((name) => !Object.hasOwn(before, name)).length
  return added > 0 && Object.keys(before).length + added > memberLimit ? before : { ...before, ...more }
}

const memberLimit = 100
