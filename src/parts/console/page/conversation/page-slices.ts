/**
 * Pages of a history, returned in slices, so that the browser draws few rows at a time. `next` takes a slice from the
 * rest of the last page, or reads a new page.
 */
import type { StoredEvent } from './timeline.ts'

/** The sort orders of `GET .../events/search`: oldest first, newest first. */
export type Order = 'TIMESTAMP' | 'TIMESTAMP_DESC'

export interface Page {
  readonly events: readonly StoredEvent[]
  /** True when more events follow in the sort order of the page. */
  readonly hasMore: boolean
}

/** Reads a page that begins with the event `from`. @throws Error */
type ReadFrom = (order: Order, from: string) => Promise<Page>

/** The most events of a slice. */
const sliceSize = 15

export class PageSlices {
  readonly #read: ReadFrom
  /** The events of the last read page that were not returned yet. `after` is the id of the last returned event. */
  #rest: Page & { readonly order: Order; readonly after: string } | undefined

  constructor(read: ReadFrom) {
    this.#read = read
  }

  /** Returns the next events after the event `after` in the given sort order, at most `sliceSize`. */
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
