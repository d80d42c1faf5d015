/**
 * Decides which conversations exceed the limits of retention. Pure functions.
 *
 * A conversation without a parent and all its descendants are one family. A family is judged as a whole.
 */
import { formatMicros } from '../../base/stamp.ts'
import type { ListEntry } from '../../conversation/list/sorted-entries.ts'

/** The limits of retention. The value 0 means no limit. */
export interface RetainLimits {
  /** The days that a family (a conversation with all its descendants) stays after its last change. */
  readonly days: number
  /** The number of families that stay: those with the newest changes. */
  readonly count: number
  /** The most bytes of all families that stay. The bytes are added up from the newest family to the oldest. */
  readonly bytes: number
}

export interface Family {
  /** The conversations of the family, each before its children. */
  readonly members: readonly ListEntry[]
  /** The time of the newest change of one of `members`. */
  readonly lastActivity: string
  /** True when a member has the tag `keep`. The family stays, and does not count for the limits `count` and `bytes`. */
  readonly isKept: boolean
}

/** A family stays while one of its conversations has this tag. */
export const keepTag = 'keep'

const dayMicros = 86_400_000_000

export function hasLimit({ days, count, bytes }: RetainLimits): boolean {
  return days > 0 || count > 0 || bytes > 0
}

/** Returns the families of all conversations, the family with the newest change first. */
export function familiesOf(entries: readonly ListEntry[]): Family[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const byRoot = new Map<string, ListEntry[]>()
  for (const entry of [...entries].sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1))) {
    const root = rootOf(entry, byId)
    const members = byRoot.get(root)
    if (members === undefined) byRoot.set(root, [entry])
    else members.push(entry)
  }
  const families = [...byRoot.values()].map((members): Family => ({
    members,
    lastActivity: members.reduce((newest, { updatedAt }) => (updatedAt > newest ? updatedAt : newest), ''),
    isKept: members.some(({ tags }) => Object.hasOwn(tags, keepTag)),
  }))
  return families.sort((one, other) => (one.lastActivity > other.lastActivity ? -1 : 1))
}

/** Returns the id of the entry's topmost listed ancestor; the entry's own id if it has no listed parent. */
function rootOf(entry: ListEntry, byId: ReadonlyMap<string, ListEntry>): string {
  const seen = new Set<string>()
  let root = entry
  while (root.parentId !== null && !seen.has(root.id)) {
    seen.add(root.id)
    const parent = byId.get(root.parentId)
    if (parent === undefined) break
    root = parent
  }
  return root.id
}

/** A family that exceeds a limit. `why` is the reason in words. */
export interface DueFamily extends Family {
  readonly why: string
}

/**
 * Returns the families that exceed a limit, the oldest change first. A family with `isKept` is returned only when it
 * exceeds the limit of days: the caller reports this family but must not remove it.
 * @param families the newest change first
 * @param bytesOf returns the bytes of a family; called only when `bytes` is a limit
 * @param now milliseconds since the epoch
 */
export function dueFamilies(
  families: readonly Family[], { days, count, bytes }: RetainLimits, bytesOf: (family: Family) => number, now: number,
): DueFamily[] {
  const oldest = formatMicros(Math.max(0, Math.floor(now * 1000) - days * dayMicros))
  const due: DueFamily[] = []
  let [number, sum] = [0, 0]
  for (const family of families) {
    if (family.isKept) {
      const isOld = days > 0 && family.lastActivity < oldest
      if (isOld) due.push({ ...family, why: reasons.days(days) })
      continue
    }
    number++
    sum += bytes > 0 ? bytesOf(family) : 0
    if (days > 0 && family.lastActivity < oldest) due.push({ ...family, why: reasons.days(days) })
    else if (count > 0 && number > count) due.push({ ...family, why: reasons.count(count) })
    else if (bytes > 0 && sum > bytes) due.push({ ...family, why: reasons.bytes(bytes) })
  }
  return due.reverse()
}

const reasons = {
  days: (days: number) => `no change for more than ${days} days`,
  count: (count: number) => `more than ${count} are newer or as new`,
  bytes: (bytes: number) => `it and the newer conversations have more than ${bytes} bytes`,
}
