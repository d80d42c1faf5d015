/**
 * Reads single members of a provider's JSON.
 *
 * Compatible servers leave members out, send null instead of a value, and add their own members. So nothing here
 * throws: a member of another type counts as absent.
 */
import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'

/** The value if it is an object; an empty object otherwise. */
export function objectOf(value: unknown): JsonObject {
  return isJsonRecord(value) ? value : {}
}

/** The value if it is a non-empty string. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value if it is a finite number that is not negative: a count or an amount. */
export function amountOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** The objects among the elements of an array; empty if the value is no array. */
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

/** Whether the value is an object. It comes from `JSON.parse`, so its members are JSON too. */
function isJsonRecord(value: unknown): value is JsonObject {
  return isObject(value)
}

/**
 * The members of both objects; the first object alone when the result would have more members than any provider sends.
 */
export function withFew(before: JsonObject, more: JsonObject): JsonObject {
  const added = Object.keys(more).filter((name) => !Object.hasOwn(before, name)).length
  return added > 0 && Object.keys(before).length + added > memberLimit ? before : { ...before, ...more }
}

const memberLimit = 100
