/**
 * Reads single members of what the browser has sent, pages included, where nothing is as good as an empty text or a
 * zero.
 *
 * Like base/fields, which reads the others, nothing here throws: a member of another type counts as absent.
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

/** On one line, without control characters, and no longer than the limit. */
export function lineOf(value: unknown, limitChars: number): string {
  const line = textOf(value).slice(0, limitChars * 4).replace(/[\s\p{C}]+/gu, ' ').trim()
  return line.length > limitChars ? `${line.slice(0, limitChars)}...` : line
}
