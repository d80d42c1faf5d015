/**
 * The real disk, except that a test may hold back the ends of log writes, to observe the server before them, and may
 * make the disk full or broken.
 */
import { nodeFiles, type Files, type OpenFile } from '../../src/storage/files.ts'

export class TestDisk implements Files {
  #held: (() => void)[] | undefined
  #fault: string | undefined

  /** Nothing is known to be durable until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const go of held) go()
  }

  /** How many writes wait to be released. */
  get waiting(): number {
    return this.#held?.length ?? 0
  }

  /** From now on, a full disk takes no bytes and a failing one does nothing at all. */
  fail(code: 'ENOSPC' | 'EIO'): void {
    this.#fault = code
  }

  heal(): void {
    this.#fault = undefined
  }

  async open(path: string, options?: { readonly writeThrough: boolean }): Promise<OpenFile> {
    const file = await nodeFiles.open(path, options)
    if (!path.endsWith('events.jsonl')) return file
    const assertWorks = (): void => {
      if (this.#fault === 'EIO') throw systemError(this.#fault)
    }
    return {
      ...file,
      write: async (bytes, position) => {
        if (this.#fault !== undefined) throw systemError(this.#fault)
        await file.write(bytes, position)
        if (this.#held !== undefined) await new Promise<void>((resolve) => this.#held?.push(resolve))
        assertWorks()
      },
      truncate: async (length) => {
        assertWorks()
        await file.truncate(length)
      },
      sync: async () => {
        assertWorks()
        await file.sync()
      },
    }
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
