/**
 * The loaded events of a conversation: a window of the history without gaps.
 *
 * The window grows at both ends, by slices (page-slices.ts). A window that grows too large at one end loses events at
 * the other end. A live event (from the socket) is added if the window reaches the end of the history.
 */
import { listAt, textAt } from '../values.ts'
import { PageSlices, type Order, type Page } from './page-slices.ts'
import { readEvent, type StoredEvent } from './timeline.ts'

/** Reads a page of the search route, `GET .../events/search`, with this query. @throws Error */
export type ReadPage = (query: string) => Promise<unknown>

export interface WindowLimits {
  /** The number of events above which the window is too large. */
  readonly events: number
  /** The sum of `StoredEvent.size` above which the window is too large. */
  readonly size: number
}

const pageSize = 100
const usualLimits: WindowLimits = { events: 900, size: 48_000_000 }

export class EventWindow {
  readonly #read: ReadPage
  readonly #limits: WindowLimits
  readonly #slices = new PageSlices((order, from) => this.#page(order, from))
  #events: StoredEvent[] = []
  readonly #ids = new Set<string>()
  #size = 0
  /** Rises when an `open...` method begins or succeeds. If it has risen during a request, the response is dropped. */
  #opening = 0
  /** For each `openAtEnd` that waits for its page: the events that the socket has brought since the call. */
  readonly #arrivals = new Set<StoredEvent[]>()
  #isReading = false
  #isAtStart = false
  #isAtEnd = false
  #newest: string | undefined
  #missed = 0

  constructor(read: ReadPage, limits: WindowLimits = usualLimits) {
    this.#read = read
    this.#limits = limits
  }

  get events(): readonly StoredEvent[] {
    return this.#events
  }

  get isAtStart(): boolean {
    return this.#isAtStart
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd
  }

  /** The id of the conversation's newest event, which may be after the window; undefined while it is unknown. */
  get newest(): string | undefined {
    return this.#newest
  }

  /** The number of socket events that were not added (`behind`) since the window last reached the history's end. */
  get missed(): number {
    return this.#missed
  }

  async openAtEnd(): Promise<void> {
    const opening = ++this.#opening
    const arrived: StoredEvent[] = []
    this.#arrivals.add(arrived)
    try {
      const page = await this.#page('TIMESTAMP_DESC')
      if (opening !== this.#opening) return
      this.#fill([...page.events].reverse(), !page.hasMore, true)
    } finally {
      this.#arrivals.delete(arrived)
    }
    this.#newest = this.#events.at(-1)?.id
    // The server may have read the page before these events were recorded.
    for (const event of arrived) this.live(event)
  }

  async openAtStart(): Promise<void> {
    const opening = ++this.#opening
    const page = await this.#page('TIMESTAMP')
    if (opening === this.#opening) this.#fill(page.events, true, this.#reachesEnd(page))
  }

  /** Opens the window around an event. Returns false when the conversation has no such event. */
  async openAt(id: string): Promise<boolean> {
    const opening = ++this.#opening
    const [back, on] = await Promise.all([this.#page('TIMESTAMP_DESC', id), this.#page('TIMESTAMP', id)])
    if (opening !== this.#opening) return true
    // For an unknown id, the server answers with the first page of the whole history.
    if (back.events[0]?.id !== id || on.events[0]?.id !== id) return false
    this.#fill([...back.events].reverse().concat(on.events.slice(1)), !back.hasMore, this.#reachesEnd(on))
    return true
  }

  /** Adds a slice of older events (page-slices.ts) at the start of the window. Returns whether a slice was added. */
  async older(): Promise<boolean> {
    const first = this.#events[0]
    if (first === undefined || this.#isAtStart) return false
    return this.#grow(() => this.#slices.next('TIMESTAMP_DESC', first.id), ({ events, hasMore }) => {
      this.#events = [...events].reverse().filter(({ id }) => !this.#ids.has(id)).concat(this.#events)
      this.#isAtStart = !hasMore
      this.#count()
      this.#cutEnd()
    })
  }

  /** Adds a slice of newer events (page-slices.ts) at the end of the window. Returns whether a slice was added. */
  async newer(): Promise<boolean> {
    const last = this.#events.at(-1)
    if (last === undefined || this.#isAtEnd) return false
    return this.#grow(() => this.#slices.next('TIMESTAMP', last.id), (page) => {
      this.#events = this.#events.concat(page.events.filter(({ id }) => !this.#ids.has(id)))
      this.#count()
      this.#setEnd(this.#reachesEnd(page))
      this.#cutStart()
    })
  }

  /** Adds an event from the socket, unless the window has the event (`known`) or ends before the event (`behind`). */
  live(event: StoredEvent): 'added' | 'behind' | 'known' {
    for (const arrived of this.#arrivals) arrived.push(event)
    if (this.#ids.has(event.id)) return 'known'
    this.#newest = event.id
    if (!this.#isAtEnd) {
      this.#missed++
      return 'behind'
    }
    this.#events.push(event)
    this.#ids.add(event.id)
    this.#size += event.size
    return 'added'
  }

  /** Removes the oldest events of a window that is too large. Returns whether it removed any. */
  trim(): boolean {
    const before = this.#events.length
    this.#cutStart()
    return this.#events.length < before
  }

  async #grow(read: () => Promise<Page>, take: (page: Page) => void): Promise<boolean> {
    if (this.#isReading) return false
    const opening = this.#opening
    this.#isReading = true
    try {
      const page = await read()
      if (opening !== this.#opening) return false
      take(page)
      return true
    } finally {
      this.#isReading = false
    }
  }

  #fill(events: readonly StoredEvent[], isAtStart: boolean, isAtEnd: boolean): void {
    this.#opening++
    this.#events = [...events]
    this.#isAtStart = isAtStart
    this.#count()
    this.#setEnd(isAtEnd)
  }

  #count(): void {
    this.#ids.clear()
    this.#size = 0
    for (const { id, size } of this.#events) {
      this.#ids.add(id)
      this.#size += size
    }
  }

  #setEnd(isAtEnd: boolean): void {
    this.#isAtEnd = isAtEnd
    if (!isAtEnd) return
    this.#missed = 0
    this.#newest = this.#events.at(-1)?.id ?? this.#newest
  }

  /** Tells whether a page of events reaches `newest`. The socket may have brought an event that the page lacks. */
  #reachesEnd({ events, hasMore }: Page): boolean {
    if (hasMore) return false
    const newest = this.#newest
    return newest === undefined || this.#ids.has(newest) || events.some(({ id }) => id === newest)
  }

  #isTooLarge(): boolean {
    return this.#events.length > this.#limits.events || this.#size > this.#limits.size
  }

  #cutStart(): void {
    if (!this.#isTooLarge()) return
    this.#isAtStart = false
    const count = this.#surplus(this.#events)
    for (const { id, size } of this.#events.splice(0, count)) this.#forget(id, size)
  }

  #cutEnd(): void {
    if (!this.#isTooLarge()) return
    this.#isAtEnd = false
    const count = this.#surplus([...this.#events].reverse())
    for (const { id, size } of this.#events.splice(this.#events.length - count)) this.#forget(id, size)
  }

  /**
   * Returns how many of the first events of a list to remove, so that the window has at most 95 % of each limit. The
   * last `pageSize` events always stay.
   */
  #surplus(events: readonly StoredEvent[]): number {
    let [count, size] = [0, this.#size]
    const [most, largest] = [this.#limits.events * 0.95, this.#limits.size * 0.95]
    while (events.length - count > pageSize && (events.length - count > most || size > largest)) {
      size -= events[count]?.size ?? 0
      count++
    }
    return count
  }

  #forget(id: string, size: number): void {
    this.#ids.delete(id)
    this.#size -= size
  }

  async #page(order: Order, from?: string): Promise<Page> {
    const start = from === undefined ? '' : `&page_id=${encodeURIComponent(from)}`
    const json = await this.#read(`limit=${pageSize}&sort_order=${order}${start}`)
    const events = listAt(json, 'items').map(readEvent).filter((event) => event !== undefined)
    return { events, hasMore: textAt(json, 'next_page_id') !== '' }
  }
}
