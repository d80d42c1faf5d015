/**
 * The file `list.json` in the data folder: the list of conversations at the last orderly end of a server.
 *
 * The file is deleted when it is read, so that a crash leaves no outdated list. The list is valid while the inode and
 * the ctime of the folder `conversations` are unchanged.
 */
import { join } from 'node:path'
import { parseOwnJson } from '../base/json.ts'
import { removeFile, syncFolder, writeFileAtomically } from '../base/own-files.ts'
import { readFile, stat } from '../base/read-files.ts'
import { formatLine, genesis, hashAt, hashOf, headLength } from './chain.ts'
import type { DataFolder } from './layout.ts'

export class ListFile {
  readonly #folder: DataFolder

  constructor(folder: DataFolder) {
    this.#folder = folder
  }

  /** Deletes the file and returns the value that `leave` stored; undefined without a valid file. Never rejects. */
  async take(): Promise<unknown> {
    const content = await readFile(this.#path).catch(() => undefined) // An unreadable file counts as missing.
    if (content === undefined) return undefined
    try {
      await removeFile(this.#path)
      await syncFolder(this.#folder.path)
      const json = content.subarray(headLength, -1)
      if (hashAt(content, 0) !== hashOf(genesis, json)) return undefined
      const [stamp, entries] = arrayOf(parseOwnJson(json.toString()))
      return stamp === (await this.#stamp()) ? entries : undefined
    } catch {
      return undefined // A damaged file counts as missing.
    }
  }

  /**
   * Stores a JSON value for the next start of a server. The value is valid until the folder of conversations changes.
   * If it cannot be stored, the next start reads the folder of every conversation instead.
   * @throws the errors of `writeFileAtomically` and `stat`
   */
  async leave(entries: unknown): Promise<void> {
    const json = Buffer.from(JSON.stringify([await this.#stamp(), entries]))
    await writeFileAtomically(this.#path, formatLine(genesis, json).bytes)
  }

  get #path(): string {
    return join(this.#folder.path, 'list.json')
  }

  /** Returns inode and ctime of the folder of conversations. The mtime is not used: a copying program can set it. */
  async #stamp(): Promise<string> {
    const { ino, ctimeNs } = await stat(this.#folder.conversations, { bigint: true })
    return `${ino} ${ctimeNs}`
  }
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
