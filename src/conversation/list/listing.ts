/**
 * The list of all conversations, open or closed (contract/conversations.md, section 4).
 *
 * The list is in memory, sorted by the time of creation or of the last change. A page begins at an id that the previous
 * page named.
 */
import { AppError } from '../../base/errors.ts'
import type { ExecutionStatus } from '../../schema/generated/conversations.ts'
import type { Creation } from './creations.ts'
import { isListEntry, SortedEntries, type ListEntry } from './sorted-entries.ts'
import type { ConversationState } from '../log/state.ts'
import { isEnded } from '../log/status-table.ts'

export type SortOrder = 'CREATED_AT' | 'UPDATED_AT' | 'CREATED_AT_DESC' | 'UPDATED_AT_DESC'

export interface ListQuery {
  readonly status?: ExecutionStatus | undefined
  readonly sortOrder: SortOrder
  readonly limit: number
  /** The page begins at the conversation with this id; for an absent or unknown id, at the start of the list. */
  readonly pageId?: string | undefined
  /** Selects the conversations for which this function returns true. Default: all conversations. */
  readonly where?: Where | undefined
}

export type Where = (id: string) => boolean

/** The most conversations that `hasTag` looks at: the conversation itself and its nearest ancestors. */
const depthLimit = 20

export class Listing {
  readonly #entries = new Map<string, ListEntry>()
  /** Conversations with a parent, by the id of the parent. */
  readonly #children = new Map<string, SortedEntries>()
  /** All entries by time of creation, and by time of change; each is built on first use. */
  #byCreation: SortedEntries | undefined
  #byChange: SortedEntries | undefined

  has(id: string): boolean {
    return this.#entries.has(id)
  }

  get(id: string): ListEntry | undefined {
    return this.#entries.get(id)
  }

  /** Adds or updates a conversation. Its time of creation and its parent must not change. */
  set(entry: ListEntry): void {
    const known = this.#entries.get(entry.id)
    this.#entries.set(entry.id, entry)
    this.#byChange?.put(entry, known)
    this.#byCreation?.put(entry, known)
    if (entry.parentId !== null) this.#siblingsOf(entry.parentId).put(entry, known)
  }

  /** Removes a conversation and returns its entry; undefined if it is not listed. */
  delete(id: string): ListEntry | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined) return undefined
    this.#entries.delete(id)
    this.#byChange?.take(entry)
    this.#byCreation?.take(entry)
    if (entry.parentId !== null) this.#siblingsOf(entry.parentId).take(entry)
    return entry
  }

  /**
   * Adds the entries of a stored list, except entries with the status `running` or `waiting_for_confirmation`. Returns
   * the ids of the entries that are not added; undefined for an invalid list.
   */
  adopt(entries: unknown): string[] | undefined {
    if (!Array.isArray(entries) || !entries.every(isListEntry)) return undefined
    for (const entry of entries) if (isEnded(entry.status)) this.set(entry)
    return entries.filter(({ status }) => !isEnded(status)).map(({ id }) => id)
  }

  /** Returns all entries, in no order. */
  entries(): ListEntry[] {
    return [...this.#entries.values()]
  }

  /** Returns the conversations whose create requests had an idempotency key. */
  creations(): Creation[] {
    return this.entries().flatMap(({ id, createdBy }) => (createdBy === null ? [] : { id, request: createdBy }))
  }

  count(status?: ExecutionStatus, where?: Where): number {
    if (status === undefined && where === undefined) return this.#entries.size
    let count = 0
    for (const entry of this.#entries.values()) {
      if ((status === undefined || entry.status === status) && where?.(entry.id) !== false) count++
    }
    return count
  }

  /** True when the conversation or one of its 19 nearest ancestors has the tag. */
  hasTag(id: string, name: string, value: string): boolean {
    let entry = this.#entries.get(id)
    for (let depth = 0; entry !== undefined && depth < depthLimit; depth++) {
      if (Object.hasOwn(entry.tags, name) && entry.tags[name] === value) return true
      entry = entry.parentId === null ? undefined : this.#entries.get(entry.parentId)
    }
    return false
  }

  /** True when a conversation works in the folder or in a folder inside it. */
  isUsed(folder: string): boolean {
    const inside = `${folder}/`
    for (const { workingDir } of this.#entries.values()) {
      if (workingDir === folder || workingDir.startsWith(inside)) return true
    }
    return false
  }

  /** Returns the ids of the children of a conversation, in order of creation. */
  childrenOf(id: string): string[] {
    return this.#children.get(id)?.ids() ?? []
  }

  page(query: ListQuery): { readonly ids: readonly string[]; readonly nextPageId: string | null } {
    const { status, sortOrder, limit, pageId, where } = query
    const sorted = this.#sortedBy(sortOrder)
    const isDescending = sortOrder.endsWith('_DESC')
    const named = pageId === undefined ? undefined : this.#entries.get(pageId)
    const start = isDescending ? sorted.count - 1 : 0
    const step = isDescending ? -1 : 1
    const ids: string[] = []
    for (let place = named === undefined ? start : sorted.placeOf(named); ; place += step) {
      const entry = sorted.get(place)
      if (entry === undefined) return { ids, nextPageId: null }
      if (status !== undefined && entry.status !== status) continue
      if (where?.(entry.id) === false) continue
      if (ids.length === limit) return { ids, nextPageId: entry.id }
      ids.push(entry.id)
    }
  }

  #sortedBy(order: SortOrder): SortedEntries {
    switch (order) {
      case 'CREATED_AT':
      case 'CREATED_AT_DESC':
        this.#byCreation ??= new SortedEntries('createdAt', this.#entries.values())
        return this.#byCreation
      case 'UPDATED_AT':
      case 'UPDATED_AT_DESC':
        this.#byChange ??= new SortedEntries('updatedAt', this.#entries.values())
        return this.#byChange
    }
  }

  #siblingsOf(parentId: string): SortedEntries {
    const siblings = this.#children.get(parentId) ?? new SortedEntries('createdAt', [])
    this.#children.set(parentId, siblings)
    return siblings
  }
}

export function entryOf(state: Readonly<ConversationState>): ListEntry {
  return {
    id: state.id,
    createdAt: state.created_at,
    updatedAt: state.updated_at,
    status: state.execution_status,
    parentId: state.parent_conversation_id,
    workingDir: state.working_dir,
    tags: state.tags,
    createdBy: state.created_by,
    madeBy: state.made_by,
  }
}

export function notFound(id: string): AppError {
  return new AppError('not_found', `Conversation not found: ${id}`)
}
