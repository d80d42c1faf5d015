/** Helpers that build JSON objects: they leave out undefined members, and merge a limited number of members. */
import type { JsonObject, JsonValue } from '../../../base/json.ts'

/** Returns a copy without the members that are undefined. */
export function present(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: JsonObject = {}
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) object[name] = value
  }
  return object
}

/** Returns `before` with the members of `more`; `before` alone when the result would have more than 100 members. */
export function withFew(before: JsonObject, more: JsonObject): JsonObject {
  const added = Object.keys(more).filter((name) => !Object.hasOwn(before, name)).length
  return added > 0 && Object.keys(before).length + added > memberLimit ? before : { ...before, ...more }
}

const memberLimit = 100
