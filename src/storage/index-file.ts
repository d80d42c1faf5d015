/**
 * `events.index`: what is in memory of an EventIndex, so that opening a log reads no history.
 *
 * It is a cache of the log. It is written some time after the events that it covers are durable, is never synced, and
 * a failure to write it costs nothing but time when the log is opened next.
 */
import { EventIndex, recordBytes } from './event-index.ts'
import type { OpenFile } from './files.ts'

export class IndexFile {
  readonly #file: OpenFile
  #written = 0

  constructor(file: OpenFile) {
    this.#file = file
  }

  /** The sound records at the beginning of the file. */
  async read(): Promise<EventIndex> {
    return EventIndex.from(await this.#file.read(await this.#file.size(), 0))
  }

  /** Goes on with this index, of which the file has the first `indexed` records right. */
  async adopt(index: EventIndex, indexed: number): Promise<void> {
    this.#written = indexed
    await this.#file.truncate(indexed * recordBytes)
    await this.write(index)
  }

  /** Adds what the file lacks. One call at a time. */
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
