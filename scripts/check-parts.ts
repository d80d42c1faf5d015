/**
 * `npm run check:parts`: proves that each part can be deleted, and all of them at once.
 *
 * For each case it makes a copy of the repository, deletes the folder of the part and its line in `src/parts.ts` (and
 * the parts whose row of the import table needs it), compiles `src` and the tests of the core, joins the program, and
 * runs those tests. Names of parts are cases to run alone; `all` deletes every part.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { grantsBelow } from './shape/boundaries.ts'
import { readSource } from './shape/source-file.ts'

/** Whole ways through a server with external agents. */
const coreTests = ['e2e/credentials', 'e2e/event-stream', 'e2e/own-work', 'e2e/unasked']
/** Further tests that need no part. They take a minute, so they run once, without all parts. */
const furtherTests = [
  'e2e/attacks', 'e2e/bad-input', 'e2e/broken-agents-long', 'e2e/heartbeat', 'e2e/hostile-routes', 'e2e/leftovers',
  'e2e/log', 'e2e/mcp-settings', 'e2e/readers-long',
]
const root = fileURLToPath(new URL('../../', import.meta.url))
const parts = readdirSync(join(root, 'src/parts'))
const { words: wanted } = commandLine({
  command: 'npm run check:parts',
  help: 'Deletes each part in a copy of the tree, compiles the rest, and tests the core.',
  words: { name: 'PART', help: 'Only these parts; "all" deletes every part at once', choices: [...parts, 'all'] },
})
const cases = [...parts.map((part) => [part]), parts].filter((names) => {
  return wanted.length === 0 || wanted.includes(nameOf(names))
})

let failures = 0
const waiting = [...cases]
// The tests wait for processes more than they work, so three cases run at once.
await Promise.all([tryCases(), tryCases(), tryCases()])
process.stdout.write(`${cases.length - failures} passed, ${failures} failed\n`)
process.exitCode = failures === 0 && cases.length > 0 ? 0 : 1

async function tryCases(): Promise<void> {
  for (let names = waiting.shift(); names !== undefined; names = waiting.shift()) {
    const removed = withDependents(names)
    const problem = await check(removed)
    const more = removed.filter((name) => names?.includes(name) === false)
    const title = `without ${nameOf(names)}${more.length === 0 ? '' : `, and ${more.join(', ')}, which needs it`}`
    process.stdout.write(problem === undefined ? `ok ${title}\n` : `FAIL ${title}\n${problem}\n`)
    if (problem !== undefined) failures++
  }
}

function nameOf(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? '') : 'all'
}

/** Returns the parts and the parts that import them, directly or by way of others. */
function withDependents(names: readonly string[]): readonly string[] {
  const found = new Set(names)
  for (const name of found) {
    const folder = `parts/${name}`
    const needs = (grant: string): boolean => grant === folder || grant.startsWith(`${folder}/`)
    for (const part of parts) if (grantsBelow(`parts/${part}`).some(needs)) found.add(part)
  }
  return [...found]
}

/** Gives the output of the step that failed. */
async function check(removed: readonly string[]): Promise<string | undefined> {
  const copy = mkdtempSync(join(tmpdir(), 'without-a-part-'))
  try {
    for (const path of ['src', 'test', 'scripts', 'package.json', 'tsconfig.json']) {
      cpSync(join(root, path), join(copy, path), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    for (const name of removed) removePart(copy, name)
    const tests = removed.length === parts.length ? [...coreTests, ...furtherTests] : coreTests
    const files = filesWithout(copy, removed)
    writeFileSync(join(copy, 'tsconfig.json'), tsconfigFor(copy, files))
    return await run(copy, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'])
      ?? await run(copy, ['dist/scripts/join.js'])
      ?? await run(copy, ['dist/scripts/test.js', ...tests])
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function removePart(copy: string, name: string): void {
  rmSync(join(copy, 'src/parts', name), { recursive: true })
  const list = join(copy, 'src/parts.ts')
  const lines = readFileSync(list, 'utf8').split('\n')
  writeFileSync(list, lines.filter((line) => !line.includes(`'./parts/${name}/part.ts'`)).join('\n'))
}

/**
 * Returns the files that need no removed part, of the tests of the core, the programs that they start and their runner.
 */
function filesWithout(copy: string, removed: readonly string[]): readonly string[] {
  const tests = [...coreTests, ...furtherTests].map((name) => `test/${name}.test.ts`)
  const fixtures = readdirSync(join(copy, 'test/fixtures')).filter((name) => name.endsWith('.ts')).map((name) => {
    return `test/fixtures/${name}`
  })
  const isFree = (path: string): boolean =>
    [...importsOf(copy, path)].every((file) => removed.every((name) => !file.startsWith(`src/parts/${name}/`)))
  return [...tests, 'scripts/test.ts', 'scripts/join.ts', ...fixtures.filter(isFree)]
}

function importsOf(copy: string, path: string, found = new Set<string>()): ReadonlySet<string> {
  if (!existsSync(join(copy, path))) return found
  for (const { specifier } of readSource(path, readFileSync(join(copy, path), 'utf8')).imports) {
    if (!specifier.startsWith('.')) continue
    const target = posix.join(dirname(path), specifier)
    if (found.has(target)) continue
    found.add(target)
    importsOf(copy, target, found)
  }
  return found
}

function tsconfigFor(copy: string, files: readonly string[]): string {
  const options: unknown = JSON.parse(readFileSync(join(copy, 'tsconfig.json'), 'utf8'))
  return JSON.stringify({ ...(typeof options === 'object' ? options : {}), include: ['src', ...files] })
}

/** Undefined when it ends well. */
async function run(folder: string, args: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => output.push(piece))
  const [code] = await once(child, 'close')
  return code === 0 ? undefined : Buffer.concat(output).toString()
}
