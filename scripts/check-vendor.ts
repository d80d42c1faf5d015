/**
 * `npm run check:vendor`: a copy of `src/` in an empty folder, used as somebody who vendors it does.
 *
 * The copy has `scripts/vendor/tsconfig.json` and nothing else of the repository. It is compiled with the newest
 * release of each of the two newest lines of TypeScript, in four settings, and by a program that imports the public
 * types with `skipLibCheck: false`. Then the compiled program tests itself. All packages are installed outside of the
 * tree.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { libraryExample } from './documents/library-example.ts'

const settings = [
  [], ['exactOptionalPropertyTypes'], ['noUncheckedIndexedAccess'], ['noPropertyAccessFromIndexSignature'],
] as const
const root = fileURLToPath(new URL('../../', import.meta.url))

commandLine({
  command: 'npm run check:vendor',
  help: 'Compiles a copy of the source with TypeScript alone, with two releases in four settings, and runs it.',
})
const folder = mkdtempSync(join(tmpdir(), 'vendor-'))
let failures = 0
try {
  for (const version of newestLines()) checkWith(version)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.stdout.write(`${failures === 0 ? 'passed' : `${failures} failed`}\n`)
process.exitCode = failures === 0 ? 0 : 1

/** Returns the newest release of each of the two newest lines (major and minor) of TypeScript in the registry. */
function newestLines(): readonly string[] {
  const { stdout } = spawnSync('npm', ['view', 'typescript', 'versions', '--json'], { encoding: 'utf8' })
  const names: unknown = JSON.parse(stdout)
  const lines = new Map<string, string>()
  // The registry lists the releases in order, so the last of a line is its newest.
  for (const name of Array.isArray(names) ? names.map(String) : []) {
    if (/^\d+\.\d+\.\d+$/.test(name)) lines.set(name.replace(/\.\d+$/, ''), name)
  }
  return [...lines.values()].slice(-2)
}

function checkWith(version: string): void {
  const copy = join(folder, version)
  mkdirSync(copy)
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true })
  writeFileSync(join(copy, 'package.json'), '{ "type": "module", "private": true }\n')
  cpSync(join(root, 'scripts/vendor/tsconfig.json'), join(copy, 'tsconfig.json'))
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const packages = [`typescript@${version}`, `@types/node@${devDependencies['@types/node']}`]
  run(copy, `TypeScript ${version} installs`, 'npm', ['install', '--silent', '--no-fund', '--no-audit', ...packages])
  const compiler = join(copy, 'node_modules/typescript/bin/tsc')
  for (const names of settings) {
    const flags = names.flatMap((name) => [`--${name}`, 'true'])
    const title = `TypeScript ${version} compiles with strict${names.map((name) => ` and ${name}`).join('')}`
    run(copy, title, process.execPath, [compiler, '-p', '.', ...flags])
  }
  writeHost(copy)
  run(copy, `TypeScript ${version} compiles a host of the library`, process.execPath, [compiler, '-p', 'host'])
  run(copy, `TypeScript ${version} made a program that works`, process.execPath, ['dist/src/cli/main.js', 'self-test'])
}

/** Writes a program that uses the public types, as in the manual, to be compiled against the declarations. */
function writeHost(copy: string): void {
  const code = libraryExample(readFileSync(join(root, 'src/README.md'), 'utf8'))
  mkdirSync(join(copy, 'host'))
  writeFileSync(join(copy, 'host/host.ts'), code)
  writeFileSync(join(copy, 'host/tsconfig.json'), JSON.stringify({
    compilerOptions: {
      module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], strict: true, skipLibCheck: false,
      exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true,
      paths: { 'agent-server': ['../dist/src/index.d.ts'] }, noEmit: true,
    },
    files: ['host.ts'],
  }))
}

/** Runs a program, prints a line about it, and its output when it fails. */
function run(cwd: string, title: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  process.stdout.write(`${status === 0 ? 'ok' : 'FAIL'} ${title}\n`)
  if (status === 0) return
  failures++
  process.stdout.write(`${stdout}${stderr}\n`)
}
