/**
 * Space that is kept for the moment when the disk is full: a file that really takes it up, given back then, so that a
 * turn can be closed in good order.
 *
 * How a full disk passes. A log's `append` or `durable` fails with `storage_full`. Whoever runs that conversation
 * stops the turn, calls `release()`, reopens the log and appends its closing records, which now fit. Everything else
 * that wants to write calls `assertHeld()` first: while the space is given back it tries, at most once a second, to
 * take it again, and refuses with `storage_full` until that works. So the freed bytes go to closing records only, and
 * writing goes on by itself once there is space. Reading needs none of this. `problem()` is for who asks before anything
 * was refused.
 */
import { randomFillSync } from 'node:crypto'
import { access, constants, open, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts'
import { storageError } from '../base/json-file.ts'
import type { Clock } from '../base/stamp.ts'

export interface ReserveOptions {
  readonly path: string
  readonly clock: Clock
  /** 1 MiB unless told. */
  readonly sizeBytes?: number
}

const retryAfterMs = 1000

export class Reserve {
  readonly #path: string
  readonly #clock: Clock
  readonly #sizeBytes: number
  #held = false
  /** One change of the file at a time. */
  #change: Promise<void> = Promise.resolve()
  #triedAt = -Infinity

  /** Takes the space if there is some; without, it begins as given back. */
  static async open(options: ReserveOptions): Promise<Reserve> {
    const reserve = new Reserve(options)
    await reserve.assertHeld().catch(() => undefined)
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

  /** Gives the space back. */
  release(): Promise<void> {
    this.#held = false
    this.#triedAt = this.#clock()
    return this.#inTurn(() => rm(this.#path, { force: true }))
  }

  /**
   * Resolves when the space is held.
   * @throws AppError `storage_full` when there is none, `storage_failed` when the file cannot be written.
   */
  async assertHeld(): Promise<void> {
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

  /**
   * Why new work would soon fail to be written, in words; undefined when it would not. Takes the space again if there
   * is some, since nobody may be writing who would.
   */
  async problem(): Promise<string | undefined> {
    try {
      await this.assertHeld()
      const folder = dirname(this.#path)
      await access(folder, constants.W_OK)
      const { blocks, bsize, bavail, files, ffree } = await statfs(folder)
      // Some file systems count neither.
      if (blocks > 0 && bavail * bsize < this.#sizeBytes) return `The disk is full: ${bavail * bsize} bytes are left`
      return files > 0 && ffree === 0 ? 'The disk is full: no more files can be made' : undefined
    } catch (thrown) {
      return messageOf(storageError('Cannot write to the data folder', thrown))
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#change.then(work)
    this.#change = done.catch(() => undefined)
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

  /** With random bytes, since a file system may store zeros in no space. */
  async #take(): Promise<void> {
    const handle = await open(this.#path, 'w', 0o600)
    try {
      await handle.writeFile(randomFillSync(Buffer.allocUnsafe(this.#sizeBytes)))
      await handle.sync()
    } catch (thrown) {
      await rm(this.#path, { force: true })
      throw thrown
    } finally {
      await handle.close()
    }
  }
}
