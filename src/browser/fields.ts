/**
 * Reads single members of what the browser has sent, pages included.
 *
 * Nothing here throws: a member of another type counts as absent, as an empty object, an empty text or a zero.
 */
import { isObject } from '../base/json.ts'

export type Fields = Readonly<Record<string, unknown>>

const none: Fields = {}

export function objectOf(value: unknown): Fields {
  return isObject(value) ? value : none
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** On one line, without control characters, and no longer than the limit. */
export function lineOf(value: unknown, limitChars: number): string {
  const line = textOf(value).slice(0, limitChars * 4).replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > limitChars ? `${line.slice(0, limitChars)}...` : line
}
