/**
 * Reads members of messages of the browser whose absence means an empty text or a zero.
 *
 * `base/fields` reads the members whose absence means something else. Nothing here throws: a member of another type
 * counts as absent.
 */
import { numberOf, textOf } from '../../base/fields.ts'

export function textOrEmpty(value: unknown): string {
  return textOf(value) ?? ''
}

export function numberOrZero(value: unknown): number {
  return numberOf(value) ?? 0
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Returns a text as one line without control characters, cut at the limit. */
export function lineOf(value: unknown, limitChars: number): string {
  const line = textOrEmpty(value).slice(0, limitChars * 4).replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > limitChars ? `${line.slice(0, limitChars)}...` : line
}
