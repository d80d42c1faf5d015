/**
 * `npm run sizes`: prints the size of the source for a reviewer, as a table: lines written by hand, files with powers
 * and their lines, budgets.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatRows } from '../src/base/rows.ts'
import { commandLine } from './command-line.ts'
import { sizesOf } from './shape/sizes.ts'

commandLine({
  command: 'npm run sizes',
  help: 'Prints the lines, the files with powers and the budget of the core and of each part.',
})
const src = fileURLToPath(new URL('../../src/', import.meta.url))
const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')).sort()
const files = paths.map((path) => ({
  path: `src/${path}`, lineCount: readFileSync(join(src, path), 'utf8').split('\n').length - 1,
}))
const rows = sizesOf(files).map(({ unit, files: count, lines, powerful, powerfulLines, budget }) =>
  [unit, `${count}`, `${lines}`, `${powerful}`, `${powerfulLines}`, `${budget ?? ''}`])
process.stdout.write(
  `${formatRows([['', 'files', 'lines', 'files with powers', 'their lines', 'budget of lines'], ...rows])}\n`,
)
