/**
 * Masks every text inside a JSON value, names of members and numbers too.
 *
 * Pure: the value given is not changed, and what is neither text nor number comes out as it was. A number whose digits are
 * a secret becomes the text of the mark, or what the caller says. Recursion is safe: what comes off the wire nests no
 * deeper than `maxJsonDepth` (base/json).
 */
import { isObject } from './json.ts'

type Mask = (text: string) => string

export function maskJson(value: unknown, mask: Mask, hiddenNumber: (masked: string) => unknown = (masked) => masked): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return maskNumber(value, mask, hiddenNumber)
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(item, mask, hiddenNumber))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [mask(name), maskJson(member, mask, hiddenNumber)]))
}

function maskNumber(value: number, mask: Mask, hiddenNumber: (masked: string) => unknown): unknown {
  const text = String(value)
  const masked = text.length < 4 ? text : mask(text)
  return masked === text ? value : hiddenNumber(masked)
}
