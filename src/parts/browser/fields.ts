/**
 * Reads members of messages from the browser (their values may come from pages) as empty text or zero when they are
 * absent.
 *
 * Other members are read by base/fields. Nothing here throws: a value of another type counts as absent.
 */

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** A text as one line without control characters, cut at the limit. */
export function lineOf(value: unknown, limitChars: number): string {
  const line = textOf(value).slice(0, limitChars * 4).replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > limitChars ? `${line.slice(0, limitChars)}...` : line
}
