/**
 * How a settings diff changes settings: pure functions over plain JSON, validated by nobody here.
 *
 * `mergePatch` is RFC 7386 with one difference that existing clients know (contract/settings.md 2.4): an object for a
 * member that the base lacks, or holds as something else, is taken as given with its nulls, for the validator to judge.
 * Every result is built with `Object.fromEntries`, so a member called `__proto__` stays an ordinary member.
 */
import { isObject } from '../base/json.ts'

type Members = Readonly<Record<string, unknown>>

/** Objects merge at every depth, null deletes at every depth, anything else replaces. */
export function mergePatch(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) members.delete(name)
    else members.set(name, mergeMember(members.get(name), value))
  }
  return Object.fromEntries(members)
}

/** As `mergePatch`, but null in the patch itself is a value; only inside nested objects it deletes (2.6). */
export function mergeFields(base: Members, patch: Members): Record<string, unknown> {
  const members = new Map(Object.entries(base))
  for (const [name, value] of Object.entries(patch)) members.set(name, mergeMember(members.get(name), value))
  return Object.fromEntries(members)
}

function mergeMember(base: unknown, patch: unknown): unknown {
  return isObject(base) && isObject(patch) ? mergePatch(base, patch) : patch
}
