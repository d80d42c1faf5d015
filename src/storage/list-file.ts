/**
 * `list.json` in the data folder: what the list of conversations held when the last server closed in good order.
 *
 * So the next one need not look into every conversation's folder. It is a cache: one line as in a log (storage/chain),
 * which is taken away as it is read, durably, so that after a crash there is none; and it holds good only while the
 * folder of conversations is the same as then, with nothing added, removed or put back, which the system's own time of
 * its last change shows. What was edited within a conversation's folder meanwhile is seen when that one is opened.
 */
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseOwnJson } from '../base/json.ts'
import { syncFolder, writeFileAtomically } from '../base/json-file.ts'
import { formatLine, genesis, hashAt, hashOf, headLength } from './chain.ts'
import type { DataFolder } from './layout.ts'

export class ListFile {
  readonly #folder: DataFolder

  constructor(folder: DataFolder) {
    this.#folder = folder
  }

  /** What `leave` was given by the last server, as JSON; undefined when that is not known to be true any more. Never rejects. */
  async take(): Promise<unknown> {
    const content = await readFile(this.#path).catch(() => undefined)
    if (content === undefined) return undefined
    try {
      await rm(this.#path)
      await syncFolder(this.#folder.path)
      const json = content.subarray(headLength, -1)
      if (hashAt(content, 0) !== hashOf(genesis, json)) return undefined
      const [stamp, entries] = arrayOf(parseOwnJson(json.toString()))
      return stamp === (await this.#stamp()) ? entries : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Keeps a JSON value for the next server. Nothing may change in the folder of conversations any more.
   * @throws AppError `storage_full` or `storage_failed`; the next server then looks into every folder.
   */
  async leave(entries: unknown): Promise<void> {
    const json = Buffer.from(JSON.stringify([await this.#stamp(), entries]))
    await writeFileAtomically(this.#path, formatLine(genesis, json).bytes)
  }

  get #path(): string {
    return join(this.#folder.path, 'list.json')
  }

  /** Not the time of its last modification, which whoever copies a folder may set. */
  async #stamp(): Promise<string> {
    const { ino, ctimeNs } = await stat(this.#folder.conversations, { bigint: true })
    return `${ino} ${ctimeNs}`
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
