/**
 * Git worktrees of conversations. A worktree is in `<worktreeDir>/<conversation id>/<name of the repository>` and has
 * the branch `openhands/<conversation id>`.
 *
 * A worktree in which no conversation works any more is removed, if it has no changes and no commits of its own.
 * Otherwise the worktree is left to the user.
 */
import { basename, dirname, join, relative, sep } from 'node:path'
import { AppError, errorOf, systemCodeOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { makeFolder, makeNewFolder, removeTree, rmdir } from '../../base/own-files.ts'
import { lstat, realpath } from '../../base/read-files.ts'
import type { Worktrees } from '../../offers.ts'
import { findRepository } from '../../workspace/git.ts'
import { contains, locatePlace } from '../../workspace/place.ts'
import type { Git } from './program.ts'
import { beginningOf, hasOwnCommits, removeWorktree } from './worktree-git.ts'
import { WorktreeRecords, type Worktree } from './worktree-records.ts'

type IsUsed = Parameters<Worktrees['release']>[1]

export interface WorktreesOptions {
  readonly git: Git
  /** The folder of the records (`WorktreeRecords`). */
  readonly recordsDir: string
  readonly worktreeDir: string
  /** Folders in which no worktree may be. */
  readonly privateDirs: readonly string[]
  readonly log: Log
}

export class ConversationWorktrees implements Worktrees {
  readonly #options: WorktreesOptions
  readonly #records: WorktreeRecords
  /** The last queued work on each worktree, by conversation id. New work waits until the last work has ended. */
  readonly #work = new Map<string, Promise<unknown>>()
  readonly #closing = new AbortController()

  constructor(options: WorktreesOptions) {
    this.#options = options
    this.#records = new WorktreeRecords(options.recordsDir)
  }

  create(id: string, folder: string): Promise<string | undefined> {
    return this.#inTurn(id, async () => {
      const known = await this.#records.read(id)
      if (known?.state === 'complete') return known.folder
      if (known !== undefined) await this.#remove(known)
      return this.#create(id, folder)
    })
  }

  async release(folder: string, isUsed: IsUsed): Promise<string | undefined> {
    try {
      const found = (await this.#records.list()).find(({ path }) => contains(path, folder))
      if (found === undefined) return undefined
      return await this.#inTurn(found.id, () => this.#release(found, isUsed))
    } catch (error) {
      this.#options.log.error('A worktree could not be looked up', { error: errorOf(error) })
      return undefined
    }
  }

  async releaseLeft(isUsed: IsUsed): Promise<void> {
    await this.#records.removeTemporary()
    for (const worktree of await this.#records.list()) {
      // The release is queued without a wait, so that it precedes later work on this worktree.
      void this.#inTurn(worktree.id, () => this.#release(worktree, isUsed))
    }
  }

  /** Ends the runs of git for worktrees, and waits until all queued work has ended. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('unavailable', 'The server is shutting down'))
    await Promise.allSettled(this.#work.values()) // The callers of `create` get its errors.
  }

  async #create(id: string, folder: string): Promise<string | undefined> {
    const { git } = this.#options
    const repository = await findRepository(folder)
    const beginning = repository && (await beginningOf(git, repository, this.#closing.signal))
    if (repository === undefined || beginning === undefined) return undefined
    const root = await this.#openRoot()
    const path = join(root, id, basename(repository.root) || 'repository')
    const inner = relative(repository.root, repository.folder)
    const { base, gitDir } = beginning
    const branch = `openhands/${id}`
    const planned: Worktree = { id, path, folder: join(path, inner), gitDir, branch, base, state: 'planned' }
    await this.#records.write(planned)
    await this.#makeDir(planned)
    const worktree: Worktree = { ...planned, state: 'half-made' }
    try {
      await this.#records.write(worktree)
      await beginning.add(worktree)
      await makeInside(path, inner)
      await this.#records.write({ ...worktree, state: 'complete' })
      return worktree.folder
    } catch (thrown) {
      // If the removal fails too, the record stays, and the next start tries again to remove the worktree.
      await this.#remove(worktree).catch((error: unknown) => this.#tell('could not be removed', worktree, error))
      throw thrown
    }
  }

  /** Makes the folder of all worktrees and returns its real path. @throws AppError `invalid_input` if it is unusable */
  async #openRoot(): Promise<string> {
    const { worktreeDir, privateDirs } = this.#options
    const root = await locatePlace(worktreeDir, { workspaceDir: worktreeDir, privateDirs })
    try {
      await makeFolder(root)
      return await realpath(root)
    } catch (thrown) {
      throw unusable(root, thrown)
    }
  }

  /**
   * Makes the parent folder of a new worktree. If that fails, deletes the record of the worktree.
   * @throws AppError `conflict` when the parent folder exists, `invalid_input` when it cannot be made
   */
  async #makeDir({ id, path }: Worktree): Promise<void> {
    try {
      await makeNewFolder(dirname(path))
    } catch (thrown) {
      await this.#records.delete(id)
      if (systemCodeOf(thrown) !== 'EEXIST') throw unusable(dirname(path), thrown)
      throw new AppError('conflict', `A worktree of the conversation ${id} was kept`)
    }
  }

  /** Removes an unused worktree, unless `close` was called. Returns its path if it is kept or cannot be removed. */
  async #release(worktree: Worktree, isUsed: IsUsed): Promise<string | undefined> {
    const { id, path } = worktree
    if (isUsed(path) || this.#closing.signal.aborted) return undefined
    try {
      if ((await this.#records.read(id)) === undefined) return undefined
      const reason = worktree.state === 'complete' ? await this.#reasonToKeep(worktree) : undefined
      if (reason === undefined && (await this.#remove(worktree))) return undefined
      this.#tell(`was kept: ${reason ?? 'git finds changes in it'}`, worktree)
      await this.#records.delete(id)
    } catch (error) {
      this.#tell('could not be removed', worktree, error)
      // A complete worktree is left to the user: without a record, no later start removes it. If the server is closing,
      // the record stays, and the next start tries again to remove the worktree.
      const isLeftToUser = worktree.state === 'complete' && !this.#closing.signal.aborted
      // If the record cannot be deleted, the next start tries again to remove the worktree.
      if (isLeftToUser) await this.#records.delete(id).catch(() => undefined)
    }
    return path
  }

  /**
   * Returns why git must not be asked to remove a worktree; undefined when it may be asked, and for a missing worktree.
   * Git itself refuses to remove a worktree with changes. @throws AppError
   */
  async #reasonToKeep(worktree: Worktree): Promise<string | undefined> {
    const { path } = worktree
    const found = await lstat(path).catch(() => undefined) // The folder may be missing.
    if (found === undefined) return undefined
    const isOurs = found.isDirectory() && (await realpath(path)) === path
    if (!isOurs) return 'another file has its name'
    const hasCommits = await hasOwnCommits(this.#options.git, worktree, this.#closing.signal)
    return hasCommits ? 'it has commits that no other branch has' : undefined
  }

  /** Removes a worktree and its record. Returns false when git refuses. @throws AppError, errors of the file system */
  async #remove(worktree: Worktree): Promise<boolean> {
    const { id, path, state } = worktree
    const isGone = state === 'planned' || (await removeWorktree(this.#options.git, worktree, this.#closing.signal))
    if (!isGone) return false
    if (state === 'half-made') await removeTree(path)
    // The parent folder stays when another program has put files into it.
    await rmdir(dirname(path)).catch(() => undefined)
    await this.#records.delete(id)
    return true
  }

  #tell(outcome: string, { id, path, branch }: Worktree, error?: unknown): void {
    const about = { conversation_id: id, path, branch }
    const { log } = this.#options
    if (error === undefined) log.warn(`A worktree ${outcome}`, about)
    else log.error(`A worktree ${outcome}`, { ...about, error: errorOf(error) })
  }

  async #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#work.get(id) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#work.set(id, mine)
    try {
      return await mine
    } finally {
      if (this.#work.get(id) === mine) this.#work.delete(id)
    }
  }
}

function unusable(dir: string, cause: unknown): AppError {
  return new AppError('invalid_input', `Cannot make a worktree in "${dir}" (${systemCodeOf(cause)})`, { cause })
}

/**
 * Makes the folder `inner`, with its parent folders, in the worktree at `root`. Existing folders stay.
 * @throws AppError `invalid_input` when a link or a file is in the place of one of these folders
 */
async function makeInside(root: string, inner: string): Promise<void> {
  let path = root
  for (const name of inner.split(sep).filter((part) => part !== '')) {
    path = join(path, name)
    const found = await lstat(path).catch(() => undefined) // The next line makes a missing folder.
    if (found === undefined) await makeNewFolder(path)
    else if (!found.isDirectory()) {
      throw new AppError('invalid_input', `Cannot make a worktree: "${inner}" is no folder in its first commit`)
    }
  }
}
