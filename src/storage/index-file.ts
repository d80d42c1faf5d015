/**
 * The file `events.index`: a copy of a log's EventIndex, so that opening the log need not read all its lines.
 *
 * The file is a cache and is not synced.
 */
import { EventIndex, recordBytes } from './event-index.ts'
import type { OpenFile } from './files.ts'

export class IndexFile {
  readonly #file: OpenFile
  #written = 0

  constructor(file: OpenFile) {
    this.#file = file
  }

  /** Returns the index of all records in the file that come before the first invalid record. */
  async read(): Promise<EventIndex> {
    return EventIndex.from(await this.#file.read(await this.#file.size(), 0))
  }

  /** Makes the file a copy of `index`. The first `indexed` records of the file are correct already, and stay. */
  async adopt(index: EventIndex, indexed: number): Promise<void> {
    this.#written = indexed
    await this.#file.truncate(indexed * recordBytes)
    await this.write(index)
  }

  /** Appends the records of `index` that the file lacks. Calls must not overlap. */
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
