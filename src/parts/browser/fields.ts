/**
 * Reads members of the browser's messages. A member that is absent or of another type is read as an empty text, 0 or an
 * empty list.
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

/** Returns the beginning of a text as one line: at most `limitChars` characters, and `...` if the line was cut. */
export function lineOf(value: unknown, limitChars: number): string {
  const line = textOrEmpty(value).slice(0, limitChars * 4).replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > limitChars ? `${line.slice(0, limitChars)}...` : line
}
