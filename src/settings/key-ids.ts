/**
 * Which sealing keys the tokens in a value name.
 *
 * Nothing is opened here, and a token that is damaged counts too: an id says which key is wanted, not that it fits.
 */
import { isObject } from '../base/json.ts'
import { keyOfToken } from './cipher.ts'

/** The ids of the keys that the tokens in a JSON value were sealed with. */
export function keysOfTokens(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    const id = typeof next === 'string' ? keyOfToken(next) : undefined
    if (id !== undefined) found.add(id)
    if (Array.isArray(next)) for (const item of next) rest.push(item)
    else if (isObject(next)) for (const item of Object.values(next)) rest.push(item)
  }
  return found
}
