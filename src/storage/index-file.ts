/**
 * The file `events.index`: a copy of an EventIndex, so that opening a log does not read the whole history.
 *
 * It is a cache that is written some time after its events are durable, and is never synced. A failed write only makes
 * the next opening slower.
 */
import { EventIndex, recordBytes } from './event-index.ts'
import type { OpenFile } from './files.ts'

export class IndexFile {
  readonly #file: OpenFile
  #written = 0

  constructor(file: OpenFile) {
    this.#file = file
  }

  /** Returns the records at the beginning of the file that `EventIndex.from` accepts. */
  async read(): Promise<EventIndex> {
    return EventIndex.from(await this.#file.read(await this.#file.size(), 0))
  }

  /** Makes the file a copy of this index: keeps the file's first `indexed` records and rewrites the others. */
  async adopt(index: EventIndex, indexed: number): Promise<void> {
    this.#written = indexed
    await this.#file.truncate(indexed * recordBytes)
    await this.write(index)
  }

  /** Appends the records that the file lacks. One call at a time. */
  async write(index: EventIndex): Promise<void> {
    const count = index.count
    if (count === this.#written) return
    await this.#file.write(index.bytes(this.#written, count), this.#written * recordBytes)
    this.#written = count
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
