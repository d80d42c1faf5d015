/**
 * Masks every text inside a JSON value, names of members too.
 *
 * Pure: the value given is not changed, and what is no text comes out as it was. A secret that is a number is not found,
 * since it is compared as text. Recursion is safe: what comes off the wire nests no deeper than `maxJsonDepth` (base/json).
 */
import { isObject } from './json.ts'

export function maskJson(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map((item: unknown) => maskJson(item, mask))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [mask(name), maskJson(member, mask)]))
}
