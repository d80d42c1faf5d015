/**
 * An open directory and operations on its entries by name, like `openat` in C. A name is one path component, never
 * `..`. No link is followed.
 *
 * On Linux an operation goes through `/proc/self/fd/N/name`, so it uses the open directory even if its path changes. On
 * other systems `assertInPlace` checks that the path still leads to the directory. That check can miss a change of the
 * path that lasts only a short time (decisions 30).
 */
import { constants, type BigIntStats } from 'node:fs'
import { lstat, mkdir, open, readlink, realpath, rmdir, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCodeOf } from '../../base/errors.ts'

export interface DirectoryRules {
  /** True when the system has /proc/self/fd. */
  readonly byDescriptor: boolean
  /** Identities (`identityOf`) of directories that are never entered. */
  readonly refused: ReadonlySet<string>
}

/** The flag O_PATH of Linux, with which a directory can be opened without the permission to list it. */
const pathOnlyFlag = 0o10000000

export class DirectoryHandle {
  readonly #handle: FileHandle
  /** The path of the directory when it was opened. */
  readonly #path: string
  readonly #rules: DirectoryRules

  private constructor(handle: FileHandle, path: string, rules: DirectoryRules) {
    this.#handle = handle
    this.#path = path
    this.#rules = rules
  }

  /** Opens the directory with this absolute path. No part of the path may be a link. */
  static async openPath(path: string, rules: DirectoryRules): Promise<DirectoryHandle> {
    let directory = await DirectoryHandle.#open('/', '/', rules)
    for (const name of path.split('/').filter((part) => part !== '')) {
      const outer = directory
      directory = await outer.enter(name).finally(() => outer.close())
    }
    return directory
  }

  /** Opens a subdirectory. @throws the system's error, such as ENOTDIR for a file; EPRIVATE for a refused directory */
  async enter(name: string): Promise<DirectoryHandle> {
    const directory = await DirectoryHandle.#open(this.locate(name), join(this.#path, name), this.#rules)
    try {
      if (this.#rules.refused.has(await directory.#identity())) throw errorOf('EPRIVATE', 'The directory is refused')
      await directory.assertInPlace()
      return directory
    } catch (thrown) {
      await directory.close()
      throw thrown
    }
  }

  /** Returns the stats of an entry, not of a link's target; undefined when there is no such entry. */
  async lstat(name: string): Promise<BigIntStats | undefined> {
    try {
      return await lstat(this.locate(name), { bigint: true })
    } catch (thrown) {
      if (systemCodeOf(thrown) === 'ENOENT') return undefined
      throw thrown
    }
  }

  async readlink(name: string): Promise<string> {
    return readlink(this.locate(name))
  }

  /** Creates a directory and returns true; false if an entry has that name. */
  async mkdir(name: string): Promise<boolean> {
    try {
      await mkdir(this.locate(name))
      return true
    } catch (thrown) {
      if (systemCodeOf(thrown) !== 'EEXIST') throw thrown
      return false
    }
  }

  /** Removes a directory if it is empty. Never rejects. */
  async rmdir(name: string): Promise<void> {
    await rmdir(this.locate(name)).catch(() => undefined) // The directory stays.
  }

  /**
   * Returns a system path of an entry, valid while this directory is open. Use it only in functions that do not follow
   * a link at the end of a path.
   */
  locate(name: string): string {
    return this.#rules.byDescriptor ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name)
  }

  /** Without /proc/self/fd, checks that the path still leads to this directory. @throws ELOOP, or the system's error */
  async assertInPlace(): Promise<void> {
    if (this.#rules.byDescriptor) return
    const there = identityOf(await lstat(this.#path, { bigint: true }))
    if ((await realpath(this.#path)) === this.#path && there === (await this.#identity())) return
    throw errorOf('ELOOP', 'The path of a directory was changed while it was used')
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #identity(): Promise<string> {
    return identityOf(await this.#handle.stat({ bigint: true }))
  }

  static async #open(locator: string, path: string, rules: DirectoryRules): Promise<DirectoryHandle> {
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
    const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | (rules.byDescriptor ? pathOnlyFlag : 0)
    return new DirectoryHandle(await open(locator, flags), path, rules)
  }
}

/** Returns a text that identifies a file or directory, whatever its path is. */
export function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`
}

function errorOf(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
