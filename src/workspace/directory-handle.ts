/**
 * A directory that is held open, and its entries by name: what `openat` is in C and Node does not have.
 *
 * On Linux `/proc/self/fd/N/name` begins at the open directory N, whatever happens to the path that led there, so what
 * is checked is what is used. Elsewhere a name begins at the path, and `assertInPlace` tells whether the path still
 * leads to the open directory: a check before and after, which a swap back in between escapes (decisions 30).
 * A name is one component, never `..`; no link is followed here.
 */
import { constants, type BigIntStats } from 'node:fs'
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCodeOf } from '../base/errors.ts'

export interface DirectoryRules {
  /** Whether the system has /proc/self/fd. */
  readonly byDescriptor: boolean
  /** Identities of directories that are never entered. */
  readonly refused: ReadonlySet<string>
}

/** Linux opens a directory for its path alone: no right to list it is needed, and nothing can be read through it. */
const pathOnlyFlag = 0o10000000

export class DirectoryHandle {
  readonly #handle: FileHandle
  /** Where it was when it was opened. */
  readonly #path: string
  readonly #rules: DirectoryRules

  private constructor(handle: FileHandle, path: string, rules: DirectoryRules) {
    this.#handle = handle
    this.#path = path
    this.#rules = rules
  }

  /** The directory with this absolute path, none of whose parts may be a link. */
  static async openPath(path: string, rules: DirectoryRules): Promise<DirectoryHandle> {
    let directory = await DirectoryHandle.#open('/', '/', rules)
    for (const name of path.split('/').filter((part) => part !== '')) {
      const outer = directory
      directory = await outer.enter(name).finally(() => outer.close())
    }
    return directory
  }

  /** A directory in this one. @throws the system's ENOTDIR or ELOOP for anything else, EPRIVATE for one that is refused */
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

  /** What a name is, itself; undefined when there is nothing. `.` is the directory. */
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

  /** Makes a directory; one that is there already is left. */
  async mkdir(name: string): Promise<void> {
    try {
      await mkdir(this.locate(name))
    } catch (thrown) {
      if (systemCodeOf(thrown) !== 'EEXIST') throw thrown
    }
  }

  /** A path for the system, good while this is open and for functions that do not follow a link at its end. */
  locate(name: string): string {
    return this.#rules.byDescriptor ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name)
  }

  /** @throws ELOOP when paths are all there is and this one leads elsewhere now */
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

/** Tells files and directories apart, whatever their paths are. */
export function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`
}

function errorOf(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
