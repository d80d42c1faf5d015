/**
 * Installs published packages outside the tree, once, and says where they are.
 *
 * The folder is `$AGENT_SERVER_REAL_AGENTS`, else one under the system's temporary folder. Each name and version has a
 * folder of its own, so a second run finds it and needs no network. Nothing is added to this project's dependencies.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverProgram } from './built-server.ts'
import { memberAt } from './member.ts'

export interface AgentPackage {
  readonly name: string
  readonly version: string
  /** The name of its program in `node_modules/.bin`, or in the `bin` of a Python environment. */
  readonly program: string
  /** From PyPI instead of npm. */
  readonly isPython?: true
}

/** Gives the absolute path of the agent's program. */
export async function installAgent({ name, version, program, isPython }: AgentPackage): Promise<string> {
  if (isPython) return join(await installPython(`${program}-${version}`, `${name}==${version}`), 'bin', program)
  const folder = await installPackages(`${program}-${version}`, [`${name}@${version}`])
  return join(folder, 'node_modules', '.bin', program)
}

/**
 * As an operator installs it, with `agent-server agents`; gives the absolute path of the folder of installed agents.
 */
export async function installWithServer(provider: string, version: string): Promise<string> {
  const data = join(rootFolder(), 'data')
  const record: unknown = JSON.parse(await readFile(join(data, 'agents', `${provider}.json`), 'utf8').catch(() => '{}'))
  if (memberAt(record, 'version') !== version) {
    const words = [
      'agents', 'install', provider, '--version', version, '--data-dir', data, '--workspace-dir',
      join(rootFolder(), 'workspace'),
    ]
    await run(process.execPath, [serverProgram, ...words], rootFolder())
  }
  return join(data, 'agents')
}

/** Gives the absolute path of the folder in whose `node_modules` the packages are. */
export async function installPackages(folderName: string, packages: readonly string[]): Promise<string> {
  const folder = join(rootFolder(), folderName)
  // npm writes it when everything else is there.
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return folder
  await mkdir(folder, { recursive: true })
  // Keeps npm from looking for a project in the folders above.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
  process.stdout.write(`installing ${packages.join(' ')} in ${folder}\n`)
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], folder)
  return folder
}

/** In an environment of its own, made with `$AGENT_SERVER_REAL_PYTHON` or `python3`; gives its folder. */
async function installPython(folderName: string, requirement: string): Promise<string> {
  const folder = join(rootFolder(), folderName)
  const done = join(folder, 'installed')
  if (existsSync(done)) return folder
  process.stdout.write(`installing ${requirement} in ${folder}\n`)
  await run(process.env['AGENT_SERVER_REAL_PYTHON'] ?? 'python3', ['-m', 'venv', folder], rootFolder())
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', requirement], folder)
  await writeFile(done, '')
  return folder
}

/** Where all packages are. */
export function rootFolder(): string {
  return process.env['AGENT_SERVER_REAL_AGENTS'] ?? join(tmpdir(), 'agent-server-real-agents')
}

export async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  await mkdir(cwd, { recursive: true })
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`Cannot install: ${program} ended with ${code ?? 'a signal'}`))
    })
  })
}
