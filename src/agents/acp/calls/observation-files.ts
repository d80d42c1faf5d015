/** Stores outputs that are too long for an event, as files in the conversation's `observations` folder. */
import { join } from 'node:path'
import { makeFolder, privateFolder, writeNew } from '../../../base/own-files.ts'

export interface ObservationFilesOptions {
  readonly folder: string
  /** Makes a new id for each file name. */
  readonly createId: () => string
  readonly onError: (error: unknown) => void
}

export class ObservationFiles {
  readonly #options: ObservationFilesOptions
  readonly #writing = new Set<Promise<void>>()

  constructor(options: ObservationFilesOptions) {
    this.#options = options
  }

  /** Starts to write a text to a new file, and returns the name of the file at once. */
  save(text: string): string {
    const name = `output-${this.#options.createId()}.txt`
    const writing = this.#write(name, text).catch(this.#options.onError).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    return name
  }

  /** Returns a promise that resolves when all pending writes are done; undefined when no write is pending. */
  settled(): Promise<unknown> | undefined {
    return this.#writing.size === 0 ? undefined : Promise.all(this.#writing)
  }

  async #write(name: string, text: string): Promise<void> {
    const { folder } = this.#options
    await makeFolder(folder, privateFolder)
    await writeNew(join(folder, name), text)
  }
}
