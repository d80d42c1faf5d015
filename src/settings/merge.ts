/**
 * Applies a settings diff to settings, without validation. Pure.
 *
 * `mergePatch` is RFC 7386 with one difference that existing clients know (contract/settings.md 2.4): an object keeps
 * its nulls if the settings have no object in its place. A member called `__proto__` stays an ordinary member.
 */
import { isObject } from '../base/json.ts'

type Members = Readonly<Record<string, unknown>>

/** Merges at every depth: null deletes a member, an object merges into an object, any other value replaces a member. */
export function mergePatch(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergeMember(members.get(name), value))
  }
  return Object.fromEntries(members)
}

/** Merges like `mergePatch`, but a null at the top of the patch is stored as a value (contract/settings.md 2.6). */
export function mergeFields(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) members.set(name, mergeMember(members.get(name), value))
  return Object.fromEntries(members)
}

function mergeMember(base: unknown, patch: unknown): unknown {
  return isObject(base) && isObject(patch) ? mergePatch(base, patch) : patch
}
