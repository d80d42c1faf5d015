/**
 * Has npm install one package in an exact version, with what it needs, into a folder.
 *
 * With a lock npm brings exactly the packages that it names and checks each against the lock's digest; without one it
 * takes what the registry has for them today and checks that against the registry's digests. No script of any package
 * is run, and no links are made. Which registry, proxy and credentials npm uses is the user's own npm configuration.
 *
 * npm does not outlive who started it: a shell stands between, whose input is a pipe from here, and ends its group when
 * the pipe ends. What survives even that carries a marker, see `sweepInstalls`.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { untilAborted } from '../../base/wait.ts'
import { startChild } from '../../process/child.ts'
import { isServerVariable, type Environment } from '../../process/environment.ts'
import { sweepMarked } from '../../process/sweep.ts'
import { digestText } from './digests.ts'
import { packageLockOf, type Lock } from './lock.ts'

export interface NpmOptions {
  /** Exists, and is empty. */
  readonly folder: string
  readonly packageName: string
  readonly version: string
  /** Default: none. */
  readonly lock?: Lock | undefined
  /** What npm gets, but the server's own variables. */
  readonly environment: Environment
  readonly signal: AbortSignal
  /** The part of the marker before the slash; see `installInstance`. */
  readonly instance: string
  /** Unique. */
  readonly id: string
  /** Default 15 minutes. */
  readonly timeoutMs?: number
}

const minute = 60_000
const problemLimitChars = 600

/**
 * @throws AppError `agent_failed` when there is no npm, `upstream_failed` when it fails, `upstream_timeout`; the
 * signal's reason.
 */
export async function runNpmInstall(options: NpmOptions): Promise<void> {
  const { folder, packageName, version, environment, signal, instance, id, timeoutMs = 15 * minute } = options
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      return value === undefined || isServerVariable(name) ? [] : [[name, value]]
    }),
  )
  const flags = [
    '--prefix', folder, '--ignore-scripts', '--no-bin-links', '--omit=dev', '--no-audit', '--no-fund',
    '--loglevel=error',
  ]
  const words = ['npm', ...(await prepare(options)), ...flags]
  const child = await startChild({
    command: '/bin/sh',
    args: ['-c', guarded, 'sh', ...words],
    cwd: folder,
    env,
    marker: `${instance}/${id}`,
  })
  child.stdout.resume()
  const late = new AppError(
    'upstream_timeout', `Could not install ${packageName}@${version}: npm was not done within ${timeoutMs} ms`,
  )
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(late), timeoutMs)
  try {
    const { code } = await untilAborted(child.exited, AbortSignal.any([signal, limit.signal]))
    if (code === 0) return
    if (code === notFound) {
      throw new AppError('agent_failed', 'Cannot start "npm": there is no such program in the PATH')
    }
    const problem = problemIn(child.stderrTail())
    throw new AppError(
      'upstream_failed', `Could not install ${packageName}@${version}: npm ended with ${code ?? 'a signal'}${problem}`,
    )
  } finally {
    clearTimeout(timer)
    await child.stop()
  }
}

/**
 * Writes what npm reads, and gives npm's words. Without a project of its own npm looks for one in the folders above.
 */
async function prepare({ folder, packageName, version, lock }: NpmOptions): Promise<readonly string[]> {
  const dependencies = lock === undefined ? {} : { dependencies: { [packageName]: version } }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ private: true, ...dependencies })}\n`)
  if (lock === undefined) return ['install', `${packageName}@${version}`]
  await writeFile(join(folder, 'package-lock.json'), packageLockOf(lock))
  return ['ci']
}

/** Ends what killed installations of this folder have left. @throws AppError `unavailable` */
export function sweepInstalls(instance: string): Promise<void> {
  return sweepMarked({ instance })
}

/** The marker's part for the installations in a folder: two folders know nothing of each other. */
export function installInstance(agentsDir: string): string {
  return `install-${digestText(agentsDir).slice(0, 16)}`
}

/**
 * POSIX sh. `$$` leads the group. An asynchronous list has no input of its own, hence descriptor 3. The shell outlives
 * a SIGTERM to the group until it has collected npm.
 */
const guarded = `exec 3<&0 </dev/null
trap : TERM
"$@" 3<&- & program=$!
{ while read -r _; do :; done <&3; kill -s TERM -- "-$$"; } 2>/dev/null &
exec 3<&-
wait "$program"; code=$?
while kill -s 0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
exit "$code"`

/** POSIX: what a shell answers for a program that is not there. */
const notFound = 127

/** What npm calls an error, in one line, without the lines that say where its log is. */
function problemIn(stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.+)/.exec(line)?.[1]?.trim() ?? [])
  const told = lines.filter((line) => !line.startsWith('A complete log')).join('; ').slice(0, problemLimitChars)
  return told === '' ? '' : `: ${told}`
}
