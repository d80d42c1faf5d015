/**
 * All conversations of the server, open or not, as far as lists need to know them (contract: conversations.md section 4).
 *
 * Kept in memory, a few words for each; the catalogue on disk is the folders themselves. Lists are sorted by creation or
 * by last change, ids break ties, and a page begins at an id that the page before named, so that what is added meanwhile
 * neither repeats nor hides another.
 */
import type { ExecutionStatus } from '../schema/generated/conversations.ts'

export interface ListEntry {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: ExecutionStatus
  readonly parentId: string | null
}

export type SortOrder = 'CREATED_AT' | 'UPDATED_AT' | 'CREATED_AT_DESC' | 'UPDATED_AT_DESC'

export interface ListQuery {
  readonly status?: ExecutionStatus | undefined
  readonly sortOrder: SortOrder
  readonly limit: number
  /** Id of the first item; an unknown one begins from the start. */
  readonly pageId?: string | undefined
}

export class Listing {
  readonly #entries = new Map<string, ListEntry>()
  /** Sorted by creation and by change, oldest first; made when asked for. */
  #byCreation: readonly ListEntry[] | undefined
  #byChange: readonly ListEntry[] | undefined

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  set(entry: ListEntry): void {
    const known = this.#entries.get(entry.id)
    this.#entries.set(entry.id, entry)
    this.#byChange = undefined
    if (known === undefined || known.status !== entry.status) this.#byCreation = undefined
  }

  /** Takes one out and gives it. */
  delete(id: string): ListEntry | undefined {
    const entry = this.#entries.get(id)
    this.#entries.delete(id)
    this.#byCreation = undefined
    this.#byChange = undefined
    return entry
  }

  count(status?: ExecutionStatus): number {
    if (status === undefined) return this.#entries.size
    return this.#all().filter((entry) => entry.status === status).length
  }

  /** Ids of conversations that name this one as their parent. */
  childrenOf(id: string): string[] {
    return this.#all()
      .filter((entry) => entry.parentId === id)
      .map((entry) => entry.id)
  }

  page(query: ListQuery): { readonly ids: readonly string[]; readonly nextPageId: string | null } {
    const sorted = this.#sorted(query.sortOrder)
    const matching = query.status === undefined ? sorted : sorted.filter((entry) => entry.status === query.status)
    const first = query.pageId === undefined ? 0 : Math.max(0, matching.findIndex((entry) => entry.id === query.pageId))
    const page = matching.slice(first, first + query.limit)
    const next = matching[first + query.limit]
    // The wire form of page ids has no dashes.
    return { ids: page.map((entry) => entry.id), nextPageId: next === undefined ? null : next.id.replaceAll('-', '') }
  }

  #all(): readonly ListEntry[] {
    this.#byCreation ??= [...this.#entries.values()].sort(compareBy('createdAt'))
    return this.#byCreation
  }

  #sorted(order: SortOrder): readonly ListEntry[] {
    switch (order) {
      case 'CREATED_AT':
        return this.#all()
      case 'CREATED_AT_DESC':
        return this.#all().toReversed()
      case 'UPDATED_AT':
        return this.#changed()
      case 'UPDATED_AT_DESC':
        return this.#changed().toReversed()
    }
  }

  #changed(): readonly ListEntry[] {
    this.#byChange ??= [...this.#entries.values()].sort(compareBy('updatedAt'))
    return this.#byChange
  }
}

/** Times are fixed-width UTC texts, so that their order is the order of the text. */
function compareBy(key: 'createdAt' | 'updatedAt'): (a: ListEntry, b: ListEntry) => number {
  return (a, b) => compare(a[key], b[key]) || compare(a.id, b.id)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
