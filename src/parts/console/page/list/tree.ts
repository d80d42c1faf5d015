/**
 * The order of the list: by the last change, newest first. Copies and sub-agents are below their origin.
 */
import { matches, type Summary } from './summary.ts'

export interface Placed {
  readonly summary: Summary
  /** The number of the conversations above this one: its origin (`Summary.origin`), the origin of that, and so on. */
  readonly depth: number
}

/** Returns the rows of the list. A search keeps the conversations that match, and all conversations above them. */
export function arrange(summaries: ReadonlyMap<string, Summary>, search: string): readonly Placed[] {
  const shown = new Set<Summary>()
  for (const summary of summaries.values()) {
    if (!matches(summary, search)) continue
    for (let one: Summary | undefined = summary; one !== undefined && !shown.has(one); one = above(summaries, one)) {
      shown.add(one)
    }
  }
  const below = new Map<Summary | undefined, Summary[]>()
  for (const one of shown) {
    const origin = above(summaries, one)
    const siblings = below.get(origin)
    if (siblings === undefined) below.set(origin, [one])
    else siblings.push(one)
  }
  const placed = new Map<Summary, Placed>()
  for (const one of byChange(below.get(undefined))) place(one, below, placed)
  // Places the conversations that are left: their chains of origins run into a cycle.
  for (const one of shown) place(one, below, placed)
  return [...placed.values()]
}

/** Places a conversation and all below it, without recursion: the tree can be deep. */
function place(
  root: Summary, below: ReadonlyMap<Summary | undefined, readonly Summary[]>, placed: Map<Summary, Placed>,
): void {
  const open = [{ summary: root, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { summary, depth } = next
    if (placed.has(summary)) continue
    placed.set(summary, next)
    open.push(...byChange(below.get(summary)).reverse().map((one) => ({ summary: one, depth: depth + 1 })))
  }
}

function byChange(summaries: readonly Summary[] = []): Summary[] {
  return [...summaries].sort((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0))
}

function above(summaries: ReadonlyMap<string, Summary>, { origin }: Summary): Summary | undefined {
  return summaries.get(origin)
}
