/**
 * Runs git on a repository that may be hostile. Git must not start programs that the repository's configuration,
 * attributes or hooks name.
 *
 * Git reads the configuration of the repository, so options on the command line override the keys that start programs.
 * The configuration of the user and the system is not read. Git contacts no server.
 */
import { randomUUID } from 'node:crypto'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { Limiter } from '../../base/limiter.ts'
import { untilAborted, within } from '../../base/wait.ts'
import type { Core } from '../../capabilities.ts'
import { startChild } from '../../process/child.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { collectOutput } from '../../process/output.ts'
import type { Repository } from '../../workspace/git.ts'

/** The default time limit of one run of git, in milliseconds. */
const usualTimeoutMs = 30_000
/** The default limit for the output of one run. */
const outputLimitBytes = 16 * 1024 * 1024
/** The most programs of git that run at the same time. */
const runLimit = 4
const atOnce = AbortSignal.abort()

const overrides: readonly string[] = [
  'core.hooksPath=/dev/null', 'core.fsmonitor=false', 'core.pager=cat', 'core.bare=false',
  'core.attributesFile=/dev/null', 'diff.external=', 'diff.submodule=short', 'log.showSignature=false',
]

const variables: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  // No transport has the name `none`, so git contacts no server.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  LC_ALL: 'C',
}

export interface GitEnd {
  readonly code: number
  readonly stdout: Buffer
}

export interface GitLimits {
  /** The most bytes of output. More is an error. */
  readonly limitBytes?: number
  readonly timeoutMs?: number
  /** Environment variables for this run only. They override the variables that every run gets. */
  readonly variables?: Readonly<Record<string, string>>
}

export interface GitPlace extends Repository {
  /** The folder of the repository's data. Default: `.git` in the root. */
  readonly gitDir?: string
}

/**
 * Runs git until it ends. @throws the abort reason of the signal that `Git.open` got; AppError `bad_request` when git
 * cannot start, exceeds a limit or is killed, `agent_failed` when a process that git started cannot be ended
 */
export type RunGit = (args: readonly string[], limits?: GitLimits) => Promise<GitEnd>

export interface Git {
  /** The number of runs of git that wait because `runLimit` runs are active. */
  readonly waiting: number
  /**
   * Returns a function that runs git without the filters (clean, smudge) that the repository has now. Use this function
   * for one request only, because the repository may get other filters later.
   */
  open(repository: GitPlace, signal: AbortSignal): Promise<RunGit>
}

export type GitOptions = Pick<Core, 'environment' | 'instanceId' | 'cgroupParent'>

export function createGit(options: GitOptions): Git {
  const limiter = new Limiter(runLimit)
  return {
    get waiting() {
      return limiter.waiting
    },
    async open(repository, signal) {
      const run = (args: readonly string[], limits: GitLimits = {}): Promise<GitEnd> => {
        return limiter.run(() => runOnce({ repository, signal, args, ...limits }, options))
      }
      const overridden = await filterOverrides(run)
      return (args, limits) => run([...overridden, ...args], limits)
    },
  }
}

/** Calls `open` of `git`. Returns undefined if git or the folder is missing. @throws the other errors of `open` */
export async function openIfInstalled(
  git: Git, repository: Repository, signal: AbortSignal,
): Promise<RunGit | undefined> {
  try {
    return await git.open(repository, signal)
  } catch (thrown) {
    const cause = thrown instanceof AppError && thrown.cause instanceof AppError ? thrown.cause.cause : undefined
    if (systemCodeOf(cause) === 'ENOENT') return undefined
    throw thrown
  }
}

/**
 * Returns `-c` arguments that empty the commands of the repository's filters, so that git starts none of them.
 * @throws AppError `bad_request` for a filter whose name has `=` or a line break
 */
async function filterOverrides(run: RunGit): Promise<readonly string[]> {
  const { stdout } = await run(['config', '--null', '--name-only', '--get-regexp', '^filter\\.'])
  const names = new Set(stdout.toString().split('\0').flatMap((key) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []))
  return [...names].flatMap((name) => {
    // In `-c name=value` the name ends at the first "=".
    if (/[=\n]/.test(name)) throw failed('the configuration of the repository has a filter with an unusual name')
    return ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((end) => ['-c', `filter.${name}.${end}`])
  })
}

interface GitCall extends GitLimits {
  readonly repository: GitPlace
  readonly args: readonly string[]
  readonly signal: AbortSignal
}

async function runOnce(run: GitCall, { environment, instanceId, cgroupParent }: GitOptions): Promise<GitEnd> {
  const { repository, args, signal, limitBytes = outputLimitBytes, timeoutMs = usualTimeoutMs } = run
  const { root, folder, gitDir = `${root}/.git` } = repository
  signal.throwIfAborted()
  const place = [`--git-dir=${gitDir}`, `--work-tree=${root}`]
  const child = await startChild({
    command: 'git',
    args: ['--no-pager', ...place, ...overrides.flatMap((override) => ['-c', override]), ...args],
    cwd: folder,
    env: buildEnvironment({ server: environment, own: { ...variables, ...run.variables } }),
    marker: `${instanceId}/git-${randomUUID()}`,
    cgroupParent,
  }).catch((cause: unknown) => Promise.reject(failed('git cannot be started', cause)))
  try {
    child.stdin.end()
    const output = collectOutput(child.stdout, limitBytes)
    const ended = Promise.all([child.exited, output.ended])
    const end = await within(untilAborted(Promise.race([ended, output.overflow]), signal), timeoutMs)
    if (end === 'late') throw failed(`git did not end within ${timeoutMs} ms`)
    if (end === undefined) throw failed(`git printed more than ${limitBytes} bytes`)
    const [{ code }] = end
    if (code === null) throw failed('git was ended by a signal')
    return { code, stdout: output.bytes() }
  } finally {
    await child.stop({ signal: atOnce })
  }
}

function failed(why: string, cause?: unknown): AppError {
  return new AppError('bad_request', `Could not ask git: ${why}`, { cause })
}
