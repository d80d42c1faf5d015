/**
 * `node dist/scripts/lock-agents.js [NAME ...]`: writes the locks of the provider table's pinned versions, see
 * src/parts/install/lock.
 *
 * npm resolves each package as it would install it, in a folder of its own, and downloads no code. Of its lock, what an
 * installation needs is kept, a package a line. A platform on which a package is missing (because the registry does not
 * have it) is left out of the lock's list, and installations there are not locked.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { isObject } from '../src/base/json.ts'
import { builtInProviders } from '../src/settings/providers-table.ts'

const target = fileURLToPath(new URL('../../src/parts/install/locks/', import.meta.url))
const kept = new Set([
  'name', 'version', 'integrity', 'optional', 'peer', 'dependencies', 'optionalDependencies', 'peerDependencies',
  'peerDependenciesMeta', 'os', 'cpu', 'libc', 'hasInstallScript',
])
const systems = ['linux', 'darwin']
const processors = ['x64', 'arm64']

const { words: names } = commandLine({
  command: 'node dist/scripts/lock-agents.js',
  help: 'Writes the locks of the pinned versions of agents.',
  words: { name: 'NAME', help: 'Only these providers', choices: builtInProviders.map(({ name }) => name) },
})
for (const { name, packageName, version } of builtInProviders) {
  if (packageName === '' || (names.length > 0 && !names.includes(name))) continue
  const resolved = resolvePackages(packageName, version)
  const head = JSON.stringify({ packageName, version, platforms: platformsOf(resolved) }).slice(0, -1)
  const packages = withoutMissing(resolved)
  const lines = Object.entries(packages).map(([path, about]) => `${JSON.stringify(path)}:${JSON.stringify(about)}`)
  writeFileSync(join(target, `${name}.json`), `${head},"packages":{\n${lines.join(',\n')}\n}}\n`)
  process.stdout.write(`${name}: ${lines.length} packages\n`)
}

type Package = Readonly<Record<string, unknown>>

function resolvePackages(packageName: string, version: string): Record<string, Package> {
  const folder = mkdtempSync(join(tmpdir(), 'lock-'))
  try {
    writeFileSync(
      join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { [packageName]: version } }),
    )
    const flags = [
      '--package-lock-only', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error',
    ]
    execFileSync('npm', ['install', ...flags], { cwd: folder, stdio: 'inherit' })
    const lock: unknown = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
    const found = isObject(lock) && isObject(lock['packages']) ? Object.entries(lock['packages']) : []
    return Object.fromEntries(found.map(([path, about]) => [path, slim(path, about)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function slim(path: string, about: unknown): Package {
  const members = Object.entries(isObject(about) ? about : {}).filter(([member]) => kept.has(member))
  const result = Object.fromEntries(members)
  if (path !== '' && typeof result['integrity'] !== 'string') throw new Error(`npm knows no digest of ${path}`)
  return result
}

/** npm refuses a lock that leaves out what its packages name, though they can do without. */
function withoutMissing(packages: Readonly<Record<string, Package>>): Record<string, Package> {
  const there = namesIn(packages)
  return Object.fromEntries(Object.entries(packages).map(([path, about]) => {
    const optional = isObject(about['optionalDependencies']) ? about['optionalDependencies'] : undefined
    if (optional === undefined) return [path, about]
    const found = Object.entries(optional).filter(([name]) => there.has(name))
    return [path, { ...about, optionalDependencies: Object.fromEntries(found) }]
  }))
}

function namesIn(packages: Readonly<Record<string, Package>>): Set<string> {
  const mark = 'node_modules/'
  return new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf(mark) + mark.length)))
}

/** Those for which no optional package is missing. Builds against musl are not looked for. */
function platformsOf(packages: Readonly<Record<string, Package>>): string[] {
  const there = namesIn(packages)
  const wanted = Object.values(packages).flatMap(({ optionalDependencies }) => {
    return Object.keys(isObject(optionalDependencies) ? optionalDependencies : {})
  })
  const missing = wanted.filter((name) => !there.has(name) && !name.includes('musl'))
  const all = systems.flatMap((system) => processors.map((processor) => ({ system, processor })))
  const isWhole = ({ system, processor }: (typeof all)[number]): boolean => {
    return !missing.some((name) => name.includes(system) && name.includes(processor))
  }
  return all.filter(isWhole).map(({ system, processor }) => `${system}-${processor}`)
}
