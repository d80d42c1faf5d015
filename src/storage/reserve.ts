/**
 * A file that reserves disk space. On a full disk, the file is deleted, so that an agent's run can record its end.
 *
 * After `storage_full`, `release()` makes room for the end of the run. `ensureHeld()` guards other writes, such as
 * those of settings: it throws until the space is reserved again.
 */
import { randomFillSync } from 'node:crypto'
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts'
import { removeFile, storageError, writeSynced } from '../base/own-files.ts'
import { access, stat, statfs } from '../base/read-files.ts'
import type { Clock } from '../base/stamp.ts'

export interface ReserveOptions {
  readonly path: string
  readonly clock: Clock
  /** The size of the reserve. Default: 1 MiB. */
  readonly sizeBytes?: number
}

const retryAfterMs = 1000

export class Reserve {
  readonly #path: string
  readonly #clock: Clock
  readonly #sizeBytes: number
  #held = false
  /** Resolves when the newest creation or deletion of the file has ended. Creations and deletions run one by one. */
  #change: Promise<void> = Promise.resolve()
  #triedAt = -Infinity
  #isClosed = false

  /** Reserves the space. If that fails, for example on a full disk, `held` stays false. */
  static async open(options: ReserveOptions): Promise<Reserve> {
    const reserve = new Reserve(options)
    await reserve.ensureHeld().catch(() => undefined) // Later writes call `ensureHeld` again.
    return reserve
  }

  private constructor(options: ReserveOptions) {
    this.#path = options.path
    this.#clock = options.clock
    this.#sizeBytes = options.sizeBytes ?? 1024 * 1024
  }

  get held(): boolean {
    return this.#held
  }

  /** Deletes the file, so that an agent's run has space to record its end. */
  release(): Promise<void> {
    this.#held = false
    this.#triedAt = this.#clock()
    return this.#inTurn(() => removeFile(this.#path))
  }

  /**
   * Reserves the space unless it is reserved already. Within a second after `release`, or after the last attempt began,
   * throws `storage_full` instead of trying.
   * @throws AppError `storage_full`, `storage_failed`, `owned_by_another`; `unavailable` after `close`
   */
  async ensureHeld(): Promise<void> {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is closed')
    if (this.#held) return
    const now = this.#clock()
    if (now >= this.#triedAt && now - this.#triedAt < retryAfterMs) {
      throw new AppError('storage_full', 'Cannot write: the disk is full')
    }
    this.#triedAt = now
    await this.#inTurn(async () => {
      if (!(await this.#isTaken())) await this.#take()
      this.#held = true
    })
  }

  /** Refuses to reserve space from now on. Resolves when the last creation or deletion of the file has ended. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#change
  }

  /** Returns why a write may fail now, such as a full disk; undefined without a problem. Tries to reserve the space. */
  async problem(): Promise<string | undefined> {
    try {
      await this.ensureHeld()
      const folder = dirname(this.#path)
      await access(folder, constants.W_OK)
      const { blocks, bsize, bavail, files, ffree } = await statfs(folder)
      // Some file systems report 0 for both blocks and files.
      if (blocks > 0 && bavail * bsize < this.#sizeBytes) return `The disk is full: ${bavail * bsize} bytes are left`
      return files > 0 && ffree === 0 ? 'The disk is full: no more files can be made' : undefined
    } catch (thrown) {
      return messageOf(storageError('Cannot write to the data folder', thrown))
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#change.then(work)
    this.#change = done.catch(() => undefined) // The caller gets the error below.
    try {
      await done
    } catch (thrown) {
      throw storageError('Cannot reserve space', thrown)
    }
  }

  async #isTaken(): Promise<boolean> {
    try {
      return (await stat(this.#path)).size === this.#sizeBytes
    } catch (thrown) {
      if (systemCodeOf(thrown) === 'ENOENT') return false
      throw thrown
    }
  }

  /** Writes random bytes, because zeros may take up no space. */
  async #take(): Promise<void> {
    try {
      await writeSynced(this.#path, randomFillSync(Buffer.allocUnsafe(this.#sizeBytes)))
    } catch (thrown) {
      await removeFile(this.#path)
      throw thrown
    }
  }
}
