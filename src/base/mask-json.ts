/**
 * Masks the strings, the names of members and the numbers in a copy of a JSON value.
 *
 * A number that contains a secret becomes its masked text, or the result of `hiddenNumber`. The value must
 * have limited nesting (base/json).
 */
import { isObject } from './json.ts'

type Mask = (text: string) => string

export function maskJson(
  value: unknown,
  mask: Mask,
  hiddenNumber: (masked: string) => unknown = (masked) => masked,
): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return maskNumber(value, mask, hiddenNumber)
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(item, mask, hiddenNumber))
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [mask(name), maskJson(member, mask, hiddenNumber)])
  return Object.fromEntries(members)
}

function maskNumber(value: number, mask: Mask, hiddenNumber: (masked: string) => unknown): unknown {
  const text = String(value)
  const masked = text.length < 4 ? text : mask(text)
  return masked === text ? value : hiddenNumber(masked)
}
