/**
 * The few tests and types that all generated code is built of.
 *
 * Each test says whether a value from JSON.parse is of one kind, allocates nothing, and is linear in its argument.
 * `check` explains failures with the same functions, so that both can never disagree about a boundary.
 */
import { parseMicros } from '../base/stamp.ts'

/** A normal form while it is being built, member by member in canonical order. */
export type Building<T> = { -readonly [Name in keyof T]?: T[Name] }

/** A normal form that lacks nothing but members that may be left out. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** An integer that every JSON reader agrees about. */
export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** JSON.parse makes Infinity of `1e999`, which JSON cannot write back: refused. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

/** Dashed or 32 hex digits (RFC 9562, section 4), any case. */
export function isUuid(text: string): boolean {
  return (text.length === 36 || text.length === 32) && uuid.test(text)
}

const uuid = /^(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

/** ISO 8601 with any offset or none. */
export function isDateTime(text: string): boolean {
  return text.length <= 64 && parseMicros(text) !== undefined
}

/** Whether a text has so many characters: code points, as JSON Schema counts (a lone surrogate is one). */
export function hasLength(text: string, least: number, most: number): boolean {
  // A code point takes one or two code units, which decides most texts without counting.
  if (text.length < least || text.length > most * 2) return false
  if (text.length >= least * 2 && text.length <= most) return true
  let length = 0
  for (const _character of text) length++
  return length >= least && length <= most
}

/** The number of an object's own members. */
export function countMembers(value: object): number {
  let count = 0
  for (const _name in value) count++
  return count
}
