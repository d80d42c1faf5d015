/**
 * `npm run audit`: prints the facts that a reviewer of the source needs, on one page.
 *
 * It reads `src` of this repository or of the folder that is given, such as a vendored copy, and runs nothing of it.
 * Regular expressions are tried with texts that are made to be slow for them. Without a git repository or a tag the
 * page says nothing about changes. It fails for an expression that takes more than 100 ms at the limit of its text, an
 * expression that is not evaluated and has no reason, a swallowed error without a reason, a cast and a package.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { changesBetween, type Changes } from './audit/changes.ts'
import { printPage } from './audit/page.ts'
import { reportOn } from './audit/report.ts'
import { hasRepository, newestTag, readCommit, readTree } from './audit/tree.ts'
import { commandLine, refuse } from './command-line.ts'
import type { SourceFile } from './shape/source-file.ts'

const { flags, words: [given] } = commandLine({
  command: 'npm run audit',
  help: 'Prints what a reviewer wants to know of the source: parts, powers with their doors, the worst time of each ' +
    'regular expression, swallowed errors, casts, addresses, environment variables, and what has changed since the ' +
    'newest tag. Takes about half a minute.',
  words: { name: 'FOLDER', help: 'The folder that has the src; default: this repository', limit: 1 },
  flags: {
    full: { help: 'Print every list whole, with its lines' },
    json: { help: 'Print the report as JSON' },
    since: { value: 'REF', help: 'Compare with this commit, tag or branch' },
    untimed: { help: 'Do not measure the regular expressions, which takes most of the time' },
  },
})
const root = given === undefined ? fileURLToPath(new URL('../../', import.meta.url)) : resolve(given)
const leftOut: string[] = []
try {
  const files = readTree(root)
  const comparison = compare(files, flags.since?.at(-1))
  if (flags.untimed !== undefined) leftOut.push('the times of regular expressions (--untimed)')
  const report = reportOn(files, flags.untimed === undefined)
  const text = flags.json === undefined
    ? printPage(report, { full: flags.full !== undefined, leftOut, ...comparison })
    : JSON.stringify({ ...report, ...comparison, leftOut }, null, 2)
  process.stdout.write(`${text}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
} catch (error) {
  refuse(error instanceof Error ? error.message : String(error))
}

function compare(
  files: readonly SourceFile[], ref: string | undefined,
): { since: string | undefined; changes: Changes | undefined } {
  const start = ref ?? (hasRepository(root) ? newestTag(root) : undefined)
  if (start !== undefined) return { since: start, changes: changesBetween(readCommit(root, start), files) }
  leftOut.push(`changes: ${hasRepository(root) ? 'no tag (--since REF compares with a commit)' : 'no git repository'}`)
  return { since: undefined, changes: undefined }
}
