/**
 * Functions and types for generated validators and converters, and for `check`.
 *
 * The time of a predicate is linear in the size of the value.
 */
import { parseMicros } from '../base/stamp.ts'

/** An object that a generated converter builds. Some members are assigned later, required members among them. */
export type Building<T> = { -readonly [Name in keyof T]?: T[Name] }

/** An object that a generated converter builds. Only optional members are assigned later. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** True for a safe integer (at most 2^53 - 1, positive or negative), which a double represents exactly. */
export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** True for a finite number. `JSON.parse` returns Infinity for `1e999`. */
export function isNumber(value: unknown): value is number {
  return Number.isFinite(value)
}

/** True for a UUID, dashed or as 32 hex digits (RFC 9562, section 4), in any case. */
export function isUuid(text: string): boolean {
  return (text.length === 36 || text.length === 32) && uuid.test(text)
}

const uuid = /^(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

/** True for an ISO 8601 time of at most 64 characters, with or without an offset. */
export function isDateTime(text: string): boolean {
  return text.length <= 64 && parseMicros(text) !== undefined
}

/** True when a text has `least` to `most` code points. */
export function hasLength(text: string, least: number, most: number): boolean {
  // A code point takes one or two code units, so `text.length` decides for most texts.
  if (text.length < least || text.length > most * 2) return false
  if (text.length >= least * 2 && text.length <= most) return true
  let length = 0
  for (const _character of text) length++
  return length >= least && length <= most
}

export function countMembers(value: object): number {
  let count = 0
  for (const _name in value) count++
  return count
}
