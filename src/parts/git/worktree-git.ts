/**
 * The commands of git that make, examine and remove a worktree.
 *
 * Filters of the repository do not run (`program.ts`), so a file of git LFS is a pointer in the worktree. Submodules
 * stay empty.
 */
import { resolve } from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { Repository } from '../../workspace/git.ts'
import { openIfInstalled, type Git, type RunGit } from './program.ts'
import type { Worktree } from './worktree-records.ts'

/** The longest time of a checkout, and of the removal of a worktree, in milliseconds. */
const checkoutTimeoutMs = 120_000

/** The revisions at which a new branch can begin. The first revision that exists is used. */
const starts = ['refs/remotes/origin/HEAD', 'refs/heads/main', 'refs/heads/master', 'HEAD']

export interface Beginning {
  /** The object name of the commit at which the branch begins. */
  readonly base: string
  readonly gitDir: string
  /** Makes a worktree with a new branch that begins at `base`. @throws AppError `bad_request`; the signal's reason */
  readonly add: (worktree: Pick<Worktree, 'path' | 'branch'>) => Promise<void>
}

/** Returns where the branch of a new worktree begins; undefined without a commit or without git. @throws AppError */
export async function beginningOf(
  git: Git, repository: Repository, signal: AbortSignal,
): Promise<Beginning | undefined> {
  const run = await openIfInstalled(git, repository, signal)
  if (run === undefined) return undefined
  const gitDir = await line(run, 'rev-parse', '--git-common-dir')
  const base = await firstCommit(run, starts)
  if (gitDir === undefined || base === undefined) return undefined
  return {
    base,
    gitDir: resolve(repository.folder, gitDir),
    async add({ path, branch }) {
      const args = ['worktree', 'add', '--quiet', '--no-track', '-b', branch, path, base]
      const { code } = await run(args, { timeoutMs: checkoutTimeoutMs })
      if (code !== 0) throw failed(`git worktree add failed with exit code ${code}`)
    },
  }
}

/** True when HEAD or the branch has commits after `base` that no other branch and no tag has. @throws AppError */
export async function hasOwnCommits(git: Git, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  const { path, branch, base } = worktree
  const run = await git.open({ root: path, folder: path }, signal)
  const tips = [await firstCommit(run, ['HEAD']), await firstCommit(run, [`refs/heads/${branch}`])]
  const known = ['--not', base, `--exclude=${branch}`, '--branches', '--remotes', '--tags']
  const found = await run(['rev-list', '--max-count=1', ...tips.flatMap((tip) => tip ?? []), ...known])
  if (found.code !== 0) throw failed(`git rev-list failed with exit code ${found.code}`)
  return found.stdout.length > 0
}

/** Has git remove a worktree and its branch. Returns false if git keeps a complete worktree. @throws AppError */
export async function removeWorktree(git: Git, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  const { gitDir, path, branch, state } = worktree
  const isComplete = state === 'complete'
  const run = await git.open({ root: gitDir, folder: gitDir, gitDir }, signal)
  // A killed `git worktree add` may leave a locked worktree. Two `--force` remove a locked worktree.
  const force = isComplete ? [] : ['--force', '--force']
  const { code } = await run(['worktree', 'remove', ...force, path], { timeoutMs: checkoutTimeoutMs })
  if (code !== 0 && isComplete) return false
  await run(['branch', '--quiet', '-D', branch])
  return true
}

async function firstCommit(run: RunGit, revisions: readonly string[]): Promise<string | undefined> {
  for (const revision of revisions) {
    const found = await line(run, 'rev-parse', '--verify', '--quiet', `${revision}^{commit}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the output of git without the line break at its end; undefined when git exits with an error code. */
async function line(run: RunGit, ...args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await run(args)
  return code === 0 ? stdout.toString().replace(/\n$/, '') : undefined
}

function failed(why: string): AppError {
  return new AppError('bad_request', `Could not use a git worktree: ${why}`)
}
