/**
 * Fills the generated regions of the documents: tables of options, routes, powers, sizes and parts.
 *
 * Reads README.md, SECURITY.md, scripts/bench/README.md and every Markdown file of src. `--check` writes nothing, names
 * each document with a stale region and exits with 1. `scripts/documents/regions.ts` says how a region is marked, and
 * `scripts/documents/tables.ts` which tables there are.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { fillRegions } from './documents/regions.ts'
import { tablesFor } from './documents/tables.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const inSrc = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).sort()
const documents = [
  'README.md', 'SECURITY.md', 'scripts/bench/README.md',
  ...inSrc.filter((path) => path.endsWith('.md')).map((path) => `src/${path}`),
]
const sources = inSrc.filter((path) => path.endsWith('.ts'))
  .map((path) => ({
    path: `src/${path}`, lineCount: readFileSync(join(root, 'src', path), 'utf8').split('\n').length - 1,
  }))

for (const document of documents) {
  const text = readFileSync(join(root, document), 'utf8')
  const current = fillRegions(document, text, tablesFor(document, sources))
  if (current === text) continue
  if (process.argv.includes('--check')) {
    process.stderr.write(`stale: ${document} (run: npm run generate)\n`)
    process.exitCode = 1
  } else {
    writeFileSync(join(root, document), current)
    process.stdout.write(`written: ${document}\n`)
  }
}
