/**
 * Has npm install one package in an exact version, with what it needs, into a folder.
 *
 * No script of any package is run, and no links are made. npm itself checks what it downloads against the registry's
 * digests; which registry, proxy and credentials it uses is the user's own npm configuration.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { untilAborted } from '../../base/wait.ts'
import { startChild } from '../../process/child.ts'
import { isServerVariable, type Environment } from '../../process/environment.ts'

export interface NpmOptions {
  /** Exists, and is empty. */
  readonly folder: string
  readonly packageName: string
  readonly version: string
  /** What npm gets, but the server's own variables. */
  readonly environment: Environment
  readonly signal: AbortSignal
  /** Unique. */
  readonly id: string
  /** Default 15 minutes. */
  readonly timeoutMs?: number
}

const minute = 60_000
const problemLimitChars = 600

/** @throws AppError `agent_failed` when there is no npm, `upstream_failed` when it fails, `upstream_timeout`; the signal's reason. */
export async function runNpmInstall(options: NpmOptions): Promise<void> {
  const { folder, packageName, version, environment, signal, id, timeoutMs = 15 * minute } = options
  // Otherwise npm looks for a project in the folders above.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  const env = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => {
    return value === undefined || isServerVariable(name) ? [] : [[name, value]]
  }))
  const flags = ['--prefix', folder, '--ignore-scripts', '--no-bin-links', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const args = ['install', ...flags, '--', `${packageName}@${version}`]
  const child = await startChild({ command: 'npm', args, cwd: folder, env, marker: `install/${id}` })
  child.stdout.resume()
  const late = new AppError('upstream_timeout', `Could not install ${packageName}@${version}: npm was not done within ${timeoutMs} ms`)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(late), timeoutMs)
  try {
    const { code } = await untilAborted(child.exited, AbortSignal.any([signal, limit.signal]))
    if (code === 0) return
    const problem = problemIn(child.stderrTail())
    throw new AppError('upstream_failed', `Could not install ${packageName}@${version}: npm ended with ${code ?? 'a signal'}${problem}`)
  } finally {
    clearTimeout(timer)
    await child.stop()
  }
}

/** What npm calls an error, in one line, without the lines that say where its log is. */
function problemIn(stderr: string): string {
  const lines = stderr.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.+)/.exec(line)?.[1]?.trim() ?? [])
  const told = lines.filter((line) => !line.startsWith('A complete log')).join('; ').slice(0, problemLimitChars)
  return told === '' ? '' : `: ${told}`
}
