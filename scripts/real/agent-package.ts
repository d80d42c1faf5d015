/**
 * Installs published packages outside the tree, once, and says where they are.
 *
 * Each name and version has a folder of its own below `package-folder`, so a second run finds it and needs no network.
 * Nothing is added to this project's dependencies.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serverProgram } from './built-server.ts'
import { memberAt } from './member.ts'
import { rootFolder, run } from './package-folder.ts'
import { installPython } from './python.ts'

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
  if (isPython) {
    const requirements = [`${name}==${version}`]
    return join(await installPython({ folder: `${program}-${version}`, requirements }), 'bin', program)
  }
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
