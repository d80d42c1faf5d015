/**
 * Finds a Python of this machine and installs packages of PyPI into environments outside the tree.
 *
 * Looks at `$AGENT_SERVER_REAL_PYTHON`, at `python3.14` to `python3.12` and `python3` in the PATH, at the versions of
 * pyenv, and asks `uv`. Installs no Python: where there is none, the error says how to get one.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { rootFolder, run } from './package-folder.ts'

const oldest = { major: 3, minor: 12 } as const

/** Where a newer release of PyPI has to be installed again: `newest` runs pip each time. */
export interface PythonPackages {
  /** Name of the environment below the folder of packages. */
  readonly folder: string
  /** Requirements in the syntax of pip. */
  readonly requirements: readonly string[]
  readonly newest?: boolean
}

/** Installs the packages, unless they are there already; returns the absolute folder of their environment. */
export async function installPython({ folder, requirements, newest = false }: PythonPackages): Promise<string> {
  const environment = join(rootFolder(), folder)
  const done = join(environment, 'installed')
  if (existsSync(done) && !newest) return environment
  process.stdout.write(`installing ${requirements.join(' ')} in ${environment}\n`)
  if (!existsSync(done)) await run(findPython(), ['-m', 'venv', '--clear', environment], rootFolder())
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--upgrade']
  await run(join(environment, 'bin', 'python'), [...pip, ...requirements], environment)
  await writeFile(done, '')
  return environment
}

/** Returns the path of a Python of at least 3.12 that can make environments. */
export function findPython(): string {
  const found = candidates().find(isUsable)
  if (found !== undefined) return found
  throw new Error(`There is no Python ${oldest.major}.${oldest.minor} or newer with the module venv. Install one ` +
    '(Debian: apt-get install python3 python3-venv; pyenv install 3.12; uv python install 3.12) and put it into the ' +
    'PATH, or name it in AGENT_SERVER_REAL_PYTHON')
}

function candidates(): string[] {
  const named = process.env['AGENT_SERVER_REAL_PYTHON']
  if (named !== undefined) return [named]
  return ['python3.14', 'python3.13', 'python3.12', 'python3', ...pyenvPythons(), ...uvPython()]
}

function isUsable(python: string): boolean {
  const program = `import sys, venv, ensurepip; sys.exit(sys.version_info < (${oldest.major}, ${oldest.minor}))`
  return spawnSync(python, ['-c', program], { stdio: 'ignore', timeout: 20_000 }).status === 0
}

/** A version that pyenv does not select is not in the PATH; newest first. */
function pyenvPythons(): string[] {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions')
  if (!existsSync(versions)) return []
  const names = readdirSync(versions).filter((name) => /^3\.\d+/.test(name))
  return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(versions, name, 'bin', 'python'))
}

function uvPython(): string[] {
  const wanted = `>=${oldest.major}.${oldest.minor}`
  const { stdout } = spawnSync('uv', ['python', 'find', wanted], { encoding: 'utf8', timeout: 20_000 })
  const path = (stdout ?? '').trim()
  return path === '' ? [] : [path]
}
