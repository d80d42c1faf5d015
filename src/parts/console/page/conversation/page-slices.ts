/**
 * Pages of a history, handed out in slices, so that the page that shows them draws few rows at a time.
 *
 * A slice that continues the last one comes from memory. Any other slice is the beginning of a page that is read.
 */
import type { StoredEvent } from './timeline.ts'

/** The orders of the search route. */
export type Order = 'TIMESTAMP' | 'TIMESTAMP_DESC'

export interface Page {
  readonly events: readonly StoredEvent[]
  /** True when more events follow in the sort order of the page. */
  readonly hasMore: boolean
}

/** Reads a page that begins with the event `from`. @throws Error */
type ReadFrom = (order: Order, from: string) => Promise<Page>

/** The most events of a slice: their rows are drawn within one frame. */
const sliceSize = 15

export class PageSlices {
  readonly #read: ReadFrom
  /** The rest of the page that was read last, and the event before that rest. */
  #rest: Page & { readonly order: Order; readonly after: string } | undefined

  constructor(read: ReadFrom) {
    this.#read = read
  }

  /** Returns the events after the event `after`, in this order. */
  async next(order: Order, after: string): Promise<Page> {
    const known = this.#rest
    const isNext = known?.order === order && known.after === after && known.events.length > 0
    const page = isNext ? known : await this.#read(order, after)
    const events = page.events.filter(({ id }) => id !== after)
    const slice = events.slice(0, sliceSize)
    const rest = events.slice(sliceSize)
    this.#rest = { order, after: slice.at(-1)?.id ?? after, events: rest, hasMore: page.hasMore }
    return { events: slice, hasMore: rest.length > 0 || page.hasMore }
  }
}
