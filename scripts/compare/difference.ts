/**
 * Compares two responses and names each difference in a line of text.
 *
 * - `status 404 | 422`: theirs first, ours second. A difference of status hides the differences of headers and body.
 * - `header allow GET | GET, HEAD`, `none` where it is missing.
 * - `- $.a.b` only theirs has the member, `- null $.a.b` with null; `+ $.a.b` only ours.
 * - `type $.a null | string`; `value $.a 1 | 2`; `length $.a 2 | 3`, behind which the shared elements are compared.
 *
 * Of a response with an error the words are not compared, since no client may depend on them: `detail` as text, `msg`
 * and `input` of a validation error.
 */
import { isObject } from '../../src/base/json.ts'
import type { Recorded } from './stage.ts'

export function differencesOf(theirs: Recorded, ours: Recorded): string[] {
  if (theirs.status !== ours.status) return [`status ${theirs.status} | ${ours.status}`]
  const isError = theirs.status >= 400
  const byType = isError ? 'words' : theirs.as
  return [...headers(theirs, ours), ...bodies(theirs.body, ours.body, '$', byType)]
}

function headers(theirs: Recorded, ours: Recorded): string[] {
  const names = [...new Set([...Object.keys(theirs.headers), ...Object.keys(ours.headers)])].sort()
  return names.flatMap((name) => {
    const [left = 'none', right = 'none'] = [theirs.headers[name], ours.headers[name]]
    return left.toLowerCase() === right.toLowerCase() ? [] : [`header ${name} ${left} | ${right}`]
  })
}

/** How values that are no lists and no objects are compared: `words` leaves texts of errors out. */
type By = 'value' | 'shape' | 'words'

function bodies(theirs: unknown, ours: unknown, at: string, by: By): string[] {
  const [left, right] = [typeOf(theirs), typeOf(ours)]
  if (left !== right) return by === 'words' && /\.input$/.test(at) ? [] : [`type ${at} ${left} | ${right}`]
  if (Array.isArray(theirs) && Array.isArray(ours)) return lists(theirs, ours, at, by)
  if (isObject(theirs) && isObject(ours)) return members(theirs, ours, at, by)
  if (by === 'shape' || theirs === ours || (by === 'words' && isWords(at))) return []
  return [`value ${at} ${short(theirs)} | ${short(ours)}`]
}

function isWords(at: string): boolean {
  return /\.(?:detail|msg|input|error_id|message|exception)$/.test(at) || /\.ctx\b/.test(at)
}

function lists(theirs: readonly unknown[], ours: readonly unknown[], at: string, by: By): string[] {
  if (by === 'shape') {
    const [left, right] = [theirs[0], ours[0]]
    return left === undefined || right === undefined ? [] : bodies(left, right, `${at}[]`, by)
  }
  const length = theirs.length === ours.length ? [] : [`length ${at} ${theirs.length} | ${ours.length}`]
  const shared = theirs.slice(0, ours.length)
  return [...length, ...shared.flatMap((one, place) => bodies(one, ours[place], `${at}[${place}]`, by))]
}

function members(theirs: object, ours: object, at: string, by: By): string[] {
  const [left, right] = [new Map(Object.entries(theirs)), new Map(Object.entries(ours))]
  const names = [...new Set([...left.keys(), ...right.keys()])]
  return names.flatMap((name) => {
    const place = `${at}.${name}`
    if (left.has(name) && right.has(name)) return bodies(left.get(name), right.get(name), place, by)
    if (by === 'words' && isWords(place)) return []
    const [sign, value] = left.has(name) ? ['-', left.get(name)] : ['+', right.get(name)]
    return [`${sign} ${value === null ? 'null ' : ''}${place}`]
  })
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
