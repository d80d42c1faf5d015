/**
 * Runs npm to install one package in an exact version, with its dependencies, into a folder.
 *
 * npm compares each package with the digest in the lock (`lock.ts`), or in the registry if there is no lock. npm runs
 * no script of a package.
 *
 * npm's parent is a shell. When this process ends, the shell ends its own process group, which includes npm. The next
 * installation ends the processes of npm that are still left (`sweepInstalls`).
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { writeLoosely } from '../../base/own-files.ts'
import { untilAborted } from '../../base/wait.ts'
import { startChild } from '../../process/child.ts'
import { isServerVariable, type Environment } from '../../process/environment.ts'
import { sweepMarked } from '../../process/sweep.ts'
import { digestText } from './digests.ts'
import { packageLockOf, type Lock } from './lock.ts'

export interface NpmOptions {
  /** An existing, empty folder. */
  readonly folder: string
  readonly packageName: string
  readonly version: string
  /** The package lock to install from. Default: none. */
  readonly lock?: Lock | undefined
  /** npm gets these variables, except the variables of this server (`isServerVariable`). */
  readonly environment: Environment
  readonly signal: AbortSignal
  /** The first part of the environment variable that marks npm's processes, from `installInstance`. */
  readonly instance: string
  /** A unique id: the last part of the environment variable that marks npm's processes. */
  readonly id: string
  /** The time limit of npm, in milliseconds. Default: 15 minutes. */
  readonly timeoutMs?: number
}

const minute = 60_000
const problemLimitChars = 600

/**
 * Installs the package into the folder.
 * @throws AppError `agent_failed` when npm is not in the PATH or cannot be ended, `upstream_failed` when npm fails,
 * `upstream_timeout`; the signal's reason
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
    'upstream_timeout', `Could not install ${packageName}@${version}: npm did not end within ${timeoutMs} ms`,
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
 * Writes package.json and, with a lock, package-lock.json. Returns npm's first arguments: `ci` with a lock, else
 * `install` with the package.
 */
async function prepare({ folder, packageName, version, lock }: NpmOptions): Promise<readonly string[]> {
  const dependencies = lock === undefined ? {} : { dependencies: { [packageName]: version } }
  await writeLoosely(join(folder, 'package.json'), `${JSON.stringify({ private: true, ...dependencies })}\n`)
  if (lock === undefined) return ['install', `${packageName}@${version}`]
  await writeLoosely(join(folder, 'package-lock.json'), packageLockOf(lock))
  return ['ci']
}

/**
 * Ends the processes that killed installations left behind. They are found by the environment variable that marks them.
 * @throws AppError `unavailable` when a process cannot be killed
 */
export function sweepInstalls(instance: string): Promise<void> {
  return sweepMarked({ instance })
}

/** Returns the `instance` of `NpmOptions` for installations in a folder. */
export function installInstance(agentsDir: string): string {
  return `install-${digestText(agentsDir).slice(0, 16)}`
}

/**
 * A POSIX sh script that runs npm, and ends its own process group when the pipe from this process ends. The pipe is
 * descriptor 3, because the shell gives a background command no stdin. The trap keeps the shell alive after SIGTERM, so
 * that the shell can exit with npm's exit code.
 */
const guarded = `exec 3<&0 </dev/null
trap : TERM
"$@" 3<&- & program=$!
{ while read -r _; do :; done <&3; kill -s TERM -- "-$$"; } 2>/dev/null &
exec 3<&-
wait "$program"; code=$?
while kill -s 0 "$program" 2>/dev/null; do wait "$program"; code=$?; done
exit "$code"`

/** A shell's exit code for a missing program (POSIX). */
const notFound = 127

/** Returns npm's error lines as one text after a colon, without lines about npm's log file; empty without errors. */
function problemIn(stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.+)/.exec(line)?.[1]?.trim() ?? [])
  const told = lines.filter((line) => !line.startsWith('A complete log')).join('; ').slice(0, problemLimitChars)
  return told === '' ? '' : `: ${told}`
}
