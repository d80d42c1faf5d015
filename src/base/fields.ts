/**
 * Reads single members of JSON data that other programs sent.
 *
 * Nothing here throws: a member of the wrong type counts as absent (agents/acp/agents.md, "Loose forms").
 */
import { isObject, type JsonObject, type JsonValue } from './json.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Returns the value if it is an object and no array; otherwise an empty object. */
export function objectOf(value: JsonValue | undefined): JsonObject
export function objectOf(value: unknown): Fields
export function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

/** Returns a string that is not empty; undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns a finite number; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns a finite number of 0 or more; undefined for any other value. */
export function amountOf(value: unknown): number | undefined {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** Returns the elements of an array that are objects; an empty list for a value that is no array. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[]
export function objectsOf(value: unknown): readonly Fields[]
export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Returns the member at a path of names, as in `_meta.terminal_exit.exit_code`; undefined if a name is missing. */
export function memberAt(value: unknown, ...path: readonly string[]): unknown {
  let inner = value
  for (const name of path) inner = objectOf(inner)[name]
  return inner
}

/** True for null, undefined, '', [] and {}. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
