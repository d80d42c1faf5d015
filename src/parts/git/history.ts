/**
 * Reads a repository for the routes: its changes, the two versions of a changed file, and its commits.
 *
 * A revision from a client is first resolved to an object name, so that git cannot read the client's text as an option.
 */
import { AppError } from '../../base/errors.ts'
import type { GitLimits, RunGit } from './program.ts'

/** The most bytes of each version of a file that a response contains. */
export const fileLimitBytes = 1024 * 1024

export type ChangeStatus = 'ADDED' | 'DELETED' | 'UPDATED'

export interface Change {
  readonly status: ChangeStatus
  /** The path relative to the folder of the request. */
  readonly path: string
}

export interface Commit {
  readonly sha: string
  readonly short_sha: string
  readonly subject: string
  readonly author: string
  /** The time at which the author made the commit: ISO 8601 with an offset. */
  readonly timestamp: string
}

const commitFields = ['%H', '%h', '%s', '%an', '%aI']
const diffOptions = [
  '--name-status', '-z', '--no-renames', '--relative', '--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty',
]

/** Reads one repository during one request. Each method also throws the errors of `RunGit`. */
export class History {
  readonly #run: RunGit

  constructor(run: RunGit) {
    this.#run = run
  }

  /** Returns the tree of a revision. @throws AppError `bad_request` when the revision does not exist */
  async tree(revision: string): Promise<string> {
    return (await this.#resolve(`${revision}^{tree}`)) ?? await this.#fail(revision)
  }

  /**
   * Returns the trees of a commit (`after`) and of its first parent (`before`). Without a parent, `before` is the empty
   * tree.
   * @throws AppError `bad_request` for an unknown commit
   */
  async treesOf(commit: string): Promise<{ readonly before: string; readonly after: string }> {
    const after = await this.tree(`${commit}^{commit}`)
    return { before: (await this.#resolve(`${commit}^1^{tree}`)) ?? (await this.#emptyTree()), after }
  }

  /**
   * Returns the tree with which changes are compared by default: the tree of the commit that `#usualCommit` finds, or
   * the empty tree if there is no commit.
   */
  async usualTree(): Promise<string> {
    const commit = await this.#usualCommit()
    return commit === undefined ? this.#emptyTree() : this.tree(commit)
  }

  /**
   * Returns the tree of a revision, and the commit if the revision names one. Without a revision, uses HEAD if it is
   * detached, else the commit that `#usualCommit` finds, else the empty tree.
   * @throws AppError `bad_request` for an unknown revision
   */
  async baseOf(revision: string | undefined): Promise<{ readonly tree: string; readonly commit: string | undefined }> {
    const isDetached = (await this.#tryLine('symbolic-ref', '--quiet', 'HEAD')) === undefined
    const named = revision ?? (isDetached ? 'HEAD' : undefined)
    if (named !== undefined) return { tree: await this.tree(named), commit: await this.#resolve(`${named}^{commit}`) }
    const commit = await this.#usualCommit()
    return { tree: commit === undefined ? await this.#emptyTree() : await this.tree(commit), commit }
  }

  /**
   * Finds the tip of the current branch at origin, else the merge base with origin's main branch, else `#localCommit`,
   * else HEAD.
   */
  async #usualCommit(): Promise<string | undefined> {
    const branch = (await this.#tryLine('symbolic-ref', '--quiet', '--short', 'HEAD')) ?? ''
    const published = branch === '' ? undefined : await this.#resolve(`refs/remotes/origin/${branch}^{commit}`)
    if (published !== undefined) return published
    for (const name of ['HEAD', 'main', 'master']) {
      const base = await this.#tryLine('merge-base', 'HEAD', `refs/remotes/origin/${name}`)
      if (base !== undefined) return base
    }
    return (await this.#localCommit(branch)) ?? this.#resolve('HEAD^{commit}')
  }

  /**
   * Returns the tip of the local branch `main`, or of `master` if there is no `main`. Returns undefined when neither
   * exists, when the found branch is `branch` itself, and when the tip is not an ancestor of HEAD.
   */
  async #localCommit(branch: string): Promise<string | undefined> {
    for (const name of ['main', 'master']) {
      const tip = await this.#resolve(`refs/heads/${name}^{commit}`)
      if (tip === undefined) continue
      const isBefore = name !== branch && (await this.#tryLine('merge-base', 'HEAD', tip)) === tip
      return isBefore ? tip : undefined
    }
    return undefined
  }

  /** Returns the tree of the commit that is checked out; the empty tree before the first commit. */
  async headTree(): Promise<string> {
    return (await this.#resolve('HEAD^{tree}')) ?? this.#emptyTree()
  }

  /** Returns the changes of the folder since a tree, sorted by path. Includes untracked files that are not ignored. */
  async changes(tree: string): Promise<readonly Change[]> {
    const changes = new Map((await this.#diff(tree)).map(({ status, path }) => [path, status]))
    const untracked = await this.#output(['ls-files', '--others', '--exclude-standard', '-z'])
    for (const path of pieces(untracked)) changes.set(path, changes.has(path) ? 'UPDATED' : 'ADDED')
    return [...changes].map(([path, status]) => ({ status, path })).sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  changesBetween(before: string, after: string): Promise<readonly Change[]> {
    return this.#diff(before, after)
  }

  /**
   * Returns the text that a file has in a tree; undefined without the file. `path` begins at the repository's root.
   * @throws AppError `bad_request` for a file of more than `fileLimitBytes`
   */
  async file(tree: string, path: string): Promise<string | undefined> {
    const entry = await this.#output(['ls-tree', '-z', '--full-tree', tree, '--', path])
    const [, object] = /^\d+ blob ([0-9a-f]+)\t/.exec(entry.toString()) ?? []
    if (object === undefined) return undefined
    return (await this.#output(['cat-file', 'blob', object], { limitBytes: fileLimitBytes })).toString()
  }

  /** Returns at most `limit` commits of HEAD, the newest first; an empty list before the first commit. */
  async commits(limit: number): Promise<readonly Commit[]> {
    if ((await this.#resolve('HEAD^{commit}')) === undefined) return []
    const format = `--format=${commitFields.join('%x00')}`
    const output = await this.#output(['log', '-z', '--encoding=UTF-8', '--no-mailmap', `--max-count=${limit}`, format])
    const values = pieces(output)
    return Array.from({ length: Math.floor(values.length / commitFields.length) }, (_, index) => {
      const fields = values.slice(index * commitFields.length)
      const [sha = '', short_sha = '', subject = '', author = '', timestamp = ''] = fields
      return { sha, short_sha, subject, author, timestamp }
    })
  }

  async #diff(...trees: readonly string[]): Promise<readonly Change[]> {
    const values = pieces(await this.#output(['diff', ...diffOptions, ...trees, '--']))
    return Array.from({ length: Math.floor(values.length / 2) }, (_, index) => {
      const [letter = '', path = ''] = values.slice(2 * index)
      return { status: letter === 'A' ? 'ADDED' : letter === 'D' ? 'DELETED' : 'UPDATED', path }
    })
  }

  async #emptyTree(): Promise<string> {
    return (await this.#tryLine('hash-object', '-t', 'tree', '--no-filters', '/dev/null')) ?? await this.#fail('')
  }

  /**
   * Returns the object name of a revision. Returns undefined for an unknown revision, and for a text that begins with
   * `-` (git could take it as an option), has control characters or is too long.
   */
  async #resolve(revision: string): Promise<string | undefined> {
    if (/^-|[\0-\x1f\x7f]/.test(revision) || revision.length > 1024) return undefined
    return this.#tryLine('rev-parse', '--verify', '--quiet', revision)
  }

  /** Runs git and returns the line that it prints, trimmed; undefined when git exits with an error code. */
  async #tryLine(...args: readonly string[]): Promise<string | undefined> {
    const { code, stdout } = await this.#run(args)
    return code === 0 ? stdout.toString().trim() : undefined
  }

  async #output(args: readonly string[], limit?: GitLimits): Promise<Buffer> {
    const { code, stdout } = await this.#run(args, limit)
    if (code === 0) return stdout
    throw new AppError('bad_request', `Could not ask git: it failed with exit code ${code}`)
  }

  #fail(revision: string): never {
    throw new AppError('bad_request', `Could not find "${revision.slice(0, 256)}" in the repository`)
  }
}

/** Splits a text at each NUL. The empty piece after the last NUL is left out. */
function pieces(output: Buffer): readonly string[] {
  return output.toString().split('\0').filter((text, index, all) => text !== '' || index < all.length - 1)
}
