/**
 * List entries in the order of one of their times, oldest first; ids break ties.
 *
 * Sorted once when it is made, and kept so: an entry that comes, goes or moves costs a binary search and one move of
 * what is behind it in memory, so that a list that is asked for all the time is never sorted again. An entry is found by
 * what it is sorted by: to take one out, give it as it was put in.
 */
import { isObject } from '../base/json.ts'
import { isExecutionStatus, type ExecutionStatus } from '../schema/generated/conversations.ts'
import { isKeyedRequest, type KeyedRequest } from './requests.ts'

/** What lists need to know of a conversation. */
export interface ListEntry {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: ExecutionStatus
  readonly parentId: string | null
  /** The keyed request that has made it. */
  readonly createdBy: KeyedRequest | null
}

export function isListEntry(value: unknown): value is ListEntry {
  if (!isObject(value)) return false
  const { id, createdAt, updatedAt, status, parentId, createdBy } = value
  return (
    typeof id === 'string' &&
    typeof createdAt === 'string' &&
    typeof updatedAt === 'string' &&
    isExecutionStatus(status) &&
    (parentId === null || typeof parentId === 'string') &&
    (createdBy === null || isKeyedRequest(createdBy))
  )
}

export type SortKey = 'createdAt' | 'updatedAt'

export class SortedEntries {
  readonly #key: SortKey
  readonly #entries: ListEntry[]

  constructor(key: SortKey, entries: Iterable<ListEntry>) {
    this.#key = key
    this.#entries = [...entries].sort((a, b) => (this.#isBefore(a, this.#timeOf(b), b.id) ? -1 : 1))
  }

  get count(): number {
    return this.#entries.length
  }

  ids(): string[] {
    return this.#entries.map(({ id }) => id)
  }

  get(place: number): ListEntry | undefined {
    return this.#entries[place]
  }

  /** Where the entry is, or would be. */
  placeOf(entry: ListEntry): number {
    const time = this.#timeOf(entry)
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#entries[middle]
      if (other !== undefined && this.#isBefore(other, time, entry.id)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Puts an entry in, in the place of what was known of it before. */
  put(entry: ListEntry, known: ListEntry | undefined): void {
    if (known !== undefined) this.take(known)
    this.#entries.splice(this.placeOf(entry), 0, entry)
  }

  take(entry: ListEntry): void {
    const place = this.placeOf(entry)
    if (this.#entries[place]?.id === entry.id) this.#entries.splice(place, 1)
  }

  /** Times are fixed-width UTC texts, so that their order is the order of the text. */
  #isBefore(entry: ListEntry, time: string, id: string): boolean {
    const own = this.#timeOf(entry)
    return own < time || (own === time && entry.id < id)
  }

  #timeOf(entry: ListEntry): string {
    return this.#key === 'createdAt' ? entry.createdAt : entry.updatedAt
  }
}
