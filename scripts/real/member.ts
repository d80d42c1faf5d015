/**
 * Reads a member deep inside a value of unknown shape, which is all that a check of somebody else's JSON needs.
 */

/** `memberAt({ a: [{ b: 1 }] }, 'a', 0, 'b')` is 1; undefined where the path leaves the value. */
export function memberAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = Object.getOwnPropertyDescriptor(found, name)?.value
  }
  return found
}

/** The elements of a member that is a list, else none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = memberAt(value, ...path)
  return Array.isArray(found) ? found : []
}
