/**
 * Prints `src/schema/generated/` and `src/parts/<name>/generated.ts` from the definitions in `src/schema/spec/` and
 * `src/parts/<name>/spec.ts`.
 *
 * No date, no network, nothing that differs between two runs. Run after tsc as `node dist/scripts/generate.js`; with
 * `--check` it writes nothing, compares bytes, names each stale file and exits with 1.
 */
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { printFiles } from './generate/files.ts'

const root = new URL('../../src/', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const wanted = printFiles(read)
const present = new Map([
  ...readdirSync(new URL('schema/generated/', root)).map((name) => `schema/generated/${name}`),
  ...readdirSync(new URL('parts/', root)).map((name) => `parts/${name}/generated.ts`),
].filter((path) => existsSync(new URL(path, root))).map((path) => [path, read(path)]))
const stale = [...new Set([...wanted.keys(), ...present.keys()])].filter((path) => {
  return wanted.get(path) !== present.get(path)
})

if (process.argv.includes('--check')) {
  for (const path of stale) process.stderr.write(`stale: src/${path} (run: npm run generate)\n`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const path of stale) write(path, wanted.get(path))
}

/** A file that nothing prints any more is removed. */
function write(path: string, text: string | undefined): void {
  if (text === undefined) rmSync(new URL(path, root))
  else writeFileSync(new URL(path, root), text)
  process.stdout.write(`${text === undefined ? 'removed' : 'written'}: src/${path}\n`)
}
