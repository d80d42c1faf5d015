/**
 * Applies a settings diff to settings, without validation. Pure.
 *
 * `mergePatch` is RFC 7386 with one difference (contract/settings.md, section 2.4): where the settings have no object,
 * an object of the diff keeps its nulls.
 */
import { isObject } from '../base/json.ts'

type Members = Readonly<Record<string, unknown>>

/** Merges at each depth: null deletes a member, two objects are merged, and any other value is stored. */
export function mergePatch(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergeMember(members.get(name), value))
  }
  return Object.fromEntries(members)
}

/** Merges like `mergePatch`, but stores a null at the top level of `patch` (contract/settings.md, section 2.6). */
export function mergeFields(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) members.set(name, mergeMember(members.get(name), value))
  return Object.fromEntries(members)
}

function mergeMember(base: unknown, patch: unknown): unknown {
  return isObject(base) && isObject(patch) ? mergePatch(base, patch) : patch
}
