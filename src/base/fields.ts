/**
 * Reads single members of what other programs have sent.
 *
 * Real ones send null where a value was, leave members out, add members of their own and use values that no schema lists
 * (for agents: acp.md, section 4, points 7 to 9). So nothing here throws: a member of another type counts as absent.
 */
import { isObject } from './json.ts'

export type Fields = Readonly<Record<string, unknown>>

const none: Fields = {}

/** The object, or an empty one. */
export function objectOf(value: unknown): Fields {
  return isObject(value) ? value : none
}

/** The string if it is one and has a character. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The number if it is a finite one. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** The objects among the elements of an array; empty for anything else. */
export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The member at the end of a path of names, as in `_meta.terminal_exit.exit_code`. */
export function memberAt(value: unknown, ...path: readonly string[]): unknown {
  let inner = value
  for (const name of path) inner = objectOf(inner)[name]
  return inner
}

/** True for what says nothing: null, undefined, '', [] and {}. Agents announce a call with such an input, and fill it later. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
