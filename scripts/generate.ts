/**
 * Prints `src/schema/generated/` from the definitions in `src/schema/spec/`.
 *
 * No date, no network, nothing that differs between two runs. Run after tsc as `node dist/scripts/generate.js`; with
 * `--check` it writes nothing, compares bytes, names each stale file and exits with 1.
 */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { printFiles } from './generate/files.ts'

const root = new URL('../../src/schema/', import.meta.url)
const folder = new URL('generated/', root)

const wanted = printFiles((file) => readFileSync(new URL(`spec/${file}.ts`, root), 'utf8'))
const present = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]))
const stale = [...new Set([...wanted.keys(), ...present.keys()])].filter((name) => {
  return wanted.get(name) !== present.get(name)
})

if (process.argv.includes('--check')) {
  for (const name of stale) process.stderr.write(`stale: src/schema/generated/${name} (run: npm run generate)\n`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const name of stale) write(name, wanted.get(name))
}

/** A file that nothing prints any more is removed. */
function write(name: string, text: string | undefined): void {
  if (text === undefined) rmSync(new URL(name, folder))
  else writeFileSync(new URL(name, folder), text)
  process.stdout.write(`${text === undefined ? 'removed' : 'written'}: src/schema/generated/${name}\n`)
}
