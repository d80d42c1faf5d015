/**
 * A list of entries that stays sorted by the time of creation or of the last change, and then by id.
 *
 * `take` searches by this time, so it needs the entry in the form in which it was added.
 */
import { isObject } from '../../base/json.ts'
import { isExecutionStatus, type ExecutionStatus } from '../../schema/generated/conversations.ts'
import { isKeyedRequest, type KeyedRequest } from '../log/requests.ts'

/** The values of a conversation that lists use. */
export interface ListEntry {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: ExecutionStatus
  readonly parentId: string | null
  readonly workingDir: string
  readonly tags: Readonly<Record<string, string>>
  /** The create request with its idempotency key; null if it had none, and for a fork. */
  readonly createdBy: KeyedRequest | null
  /** The name of the named API key (parts/keys) that made the conversation; undefined for a client without one. */
  readonly madeBy?: string | undefined
}

export function isListEntry(value: unknown): value is ListEntry {
  if (!isObject(value)) return false
  const { id, createdAt, updatedAt, status, parentId, workingDir, tags, createdBy, madeBy } = value
  return (
    typeof id === 'string' &&
    typeof createdAt === 'string' &&
    typeof updatedAt === 'string' &&
    isExecutionStatus(status) &&
    (parentId === null || typeof parentId === 'string') &&
    typeof workingDir === 'string' &&
    isObject(tags) &&
    Object.values(tags).every((tag) => typeof tag === 'string') &&
    (createdBy === null || isKeyedRequest(createdBy)) &&
    (madeBy === undefined || typeof madeBy === 'string')
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

  /** Returns the index of the entry; for an absent entry, the index at which `put` would insert it. */
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

  /** Adds an entry and removes its old version `known`. */
  put(entry: ListEntry, known: ListEntry | undefined): void {
    if (known !== undefined) this.take(known)
    this.#entries.splice(this.placeOf(entry), 0, entry)
  }

  take(entry: ListEntry): void {
    const place = this.placeOf(entry)
    if (this.#entries[place]?.id === entry.id) this.#entries.splice(place, 1)
  }

  /** True if an entry sorts before this time and id. Times are compared as text: they have a fixed width, in UTC. */
  #isBefore(entry: ListEntry, time: string, id: string): boolean {
    const own = this.#timeOf(entry)
    return own < time || (own === time && entry.id < id)
  }

  #timeOf(entry: ListEntry): string {
    return this.#key === 'createdAt' ? entry.createdAt : entry.updatedAt
  }
}
