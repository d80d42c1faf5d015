/**
 * Writes the table of options into README.md from the option table itself; with `--check`, says whether it is current.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { entries } from '../src/cli/options.ts'
import type { Option } from '../src/option.ts'

const readme = new URL('../../README.md', import.meta.url)
const begin = '<!-- options -->\n'
const end = '<!-- /options -->'

const text = readFileSync(readme, 'utf8')
const from = text.indexOf(begin)
const to = text.indexOf(end)
if (from === -1 || to < from) throw new Error('README.md has no place for the table of options')
const current = text.slice(0, from) + begin + table() + text.slice(to)

if (!process.argv.includes('--check')) {
  writeFileSync(readme, current)
} else if (current !== text) {
  process.stderr.write('README.md: the table of options is stale; run: node dist/scripts/readme-options.js\n')
  process.exitCode = 1
}

function table(): string {
  const rows = entries.map(({ flag, option, isFile }) => {
    const word = isFile ? 'FILE' : option.placeholder
    const help = isFile ? 'The same, in a file' : option.help
    return `| \`--${flag}\`${option.kind === 'switch' ? '' : ` ${word}`} | ${help} | ${isFile ? '' : initialOf(option)} |\n`
  })
  return `| option | meaning | default |\n|---|---|---|\n${rows.join('')}`
}

function initialOf({ initial }: Option<unknown>): string {
  if (typeof initial !== 'string' && typeof initial !== 'number') return ''
  return `\`${initial}\``
}
