/** Finds which keys sealed the tokens in a value, by the key id that each token contains. No token is opened. */
import { isObject } from '../base/json.ts'
import { keyOfToken } from './cipher.ts'

/** Returns the ids of the keys of all sealed tokens in a JSON value. Names of members are not searched. */
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
