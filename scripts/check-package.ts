/**
 * `npm run check:package`: two copies of the tree are built and packed, and give the same bytes.
 *
 * The package is installed in an empty folder: its digests are right, it has no other file and no dependency,
 * `npx agent-server --help` answers, a host imports the library and makes a conversation, and the program tests itself.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'

commandLine({
  command: 'npm run check:package',
  help: 'Builds and packs the tree twice, compares the bytes, and uses the package as its users do.',
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const host = `
import { createAgentServer } from 'agent-server'

const folder = import.meta.dirname
const server = await createAgentServer({ dataDir: folder + '/data', workspaceDir: folder + '/workspace' })
const conversation = await server.createConversation({})
console.log((await conversation.summary()).status)
await server.close()
`
const folder = mkdtempSync(join(tmpdir(), 'package-'))
try {
  const [first, second] = [packCopy('one'), packCopy('other-folder')]
  const digests = [first, second].map((path) => createHash('sha256').update(readFileSync(path)).digest('hex'))
  check('two builds and two packs give the same bytes', digests[0] === digests[1])
  process.stdout.write(`   sha256 ${digests[0]}, ${(statSync(first).size / 1e6).toFixed(2)} MB packed\n`)
  use(first)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Builds and packs a copy of the tree, and returns the path of the package. */
function packCopy(name: string): string {
  const copy = join(folder, name)
  mkdirSync(copy)
  const documents = ['LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md']
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json']
  for (const path of [...documents, ...settings, 'src', 'scripts', 'test']) {
    cpSync(join(root, path), join(copy, path), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  run(copy, 'npm', 'pack', '--silent')
  return join(copy, readdirSync(copy).find((path) => path.endsWith('.tgz')) ?? '')
}

function use(archive: string): void {
  const home = join(folder, 'user')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  run(home, 'npm', 'install', '--silent', '--no-fund', '--no-audit', archive)
  const modules = join(home, 'node_modules')
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.'))
  check('it brings no other package', packages.join() === 'agent-server')
  const installed = join(modules, 'agent-server')
  run(installed, 'sha256sum', '--check', '--quiet', 'dist/SHA256SUMS')
  const listed = readFileSync(join(installed, 'dist/SHA256SUMS'), 'utf8').trim().split('\n').length
  const there = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((path) => {
    return statSync(join(installed, path)).isFile()
  })
  check('each of its files but the list is in the list of digests', there.length === listed + 1)
  const compiled = there.filter((path) => path.startsWith('dist/src/'))
  const lacking = compiled.flatMap((path) => importsOf(installed, path)).filter((path) => !there.includes(path))
  check(`its ${compiled.length} modules for threads and other processes have all that they import`, lacking.join() === '')
  check('npx agent-server --help answers', run(home, 'npx', 'agent-server', '--help').startsWith('Usage: agent-server'))
  writeFileSync(join(home, 'host.mjs'), host)
  check('a host imports it, makes a conversation and closes', run(home, process.execPath, 'host.mjs') === 'idle\n')
  process.stdout.write(run(home, 'npx', 'agent-server', 'self-test'))
}

/** Returns the paths of the modules that a module imports. */
function importsOf(folder: string, path: string): readonly string[] {
  const specifiers = readFileSync(join(folder, path), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return [...specifiers].map(([, name = '']) => join(dirname(path), name))
}

/** Runs a program and returns its output. @throws Error when it fails, with its output */
function run(cwd: string, program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}

function check(title: string, holds: boolean): void {
  process.stdout.write(`${holds ? 'ok' : 'FAIL'} ${title}\n`)
  if (!holds) process.exitCode = 1
}
