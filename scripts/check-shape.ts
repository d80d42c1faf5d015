/**
 * `npm run check:shape`: holds the source against the architecture, the table of powers and the house style.
 *
 * Reads src, scripts, test and the documents beside them, of this repository or of the folder given as argument, prints
 * each finding as `file:line: rule: advice`, and fails for a finding that is more than a warning. The rules are data
 * and pure functions in scripts/shape; this file only reads, asks git for commits, and prints.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine } from './command-line.ts'
import { budgetLog, checkBudgetCommits } from './shape/budgets.ts'
import { formatFinding, type Finding } from './shape/finding.ts'
import { checkMissingFiles } from './shape/powers.ts'
import { checkShape } from './shape/rules.ts'

const { words: [given] } = commandLine({
  command: 'npm run check:shape',
  help: 'Holds the source against the architecture, the table of powers and the house style.',
  words: { name: 'FOLDER', help: 'The root of another tree, of which only single files are checked', limit: 1 },
})
const root = given ?? fileURLToPath(new URL('../../', import.meta.url))

const sources = new Map<string, string>()
const plainScripts = new Map<string, string>()
const documents = new Map<string, string>()
const paths = new Set<string>()
for (const entry of readdirSync(root, { withFileTypes: true }).filter((file) => file.isFile())) {
  paths.add(entry.name)
  if (entry.name.endsWith('.md')) documents.set(entry.name, readFileSync(join(root, entry.name), 'utf8'))
}
for (const folder of ['src', 'scripts', 'test']) {
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
    const name = `${folder}/${path.replaceAll('\\', '/')}`
    paths.add(name)
    if (path.endsWith('.ts')) sources.set(name, readFileSync(join(root, name), 'utf8'))
    else if (path.endsWith('.mjs')) plainScripts.set(name, readFileSync(join(root, name), 'utf8'))
    else if (path.endsWith('.md')) documents.set(name, readFileSync(join(root, name), 'utf8'))
  }
}
const security = documents.get('SECURITY.md')

// A folder that is given may be a few files.
const isWhole = given === undefined
const findings = [
  ...checkShape({ sources, plainScripts, security, documents, paths: isWhole ? paths : undefined, isWhole }),
  ...(isWhole ? [...checkMissingFiles(new Set(sources.keys())), ...checkHistory()] : []),
]
for (const finding of findings) process.stdout.write(`${formatFinding(finding)}\n`)
const failures = findings.filter(({ warning }) => warning !== true).length
process.stdout.write(`${sources.size} files, ${failures} failures, ${findings.length - failures} warnings\n`)
process.exitCode = failures > 0 ? 1 : 0

/** Asks git for the commits that changed the budgets. */
function checkHistory(): readonly Finding[] {
  const asked = ['-C', root, ...budgetLog]
  const { status, stdout, stderr, error } = spawnSync('git', asked, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status === 0) return checkBudgetCommits(stdout)
  const reason = error?.message ?? stderr.split('\n', 1)[0]
  process.stdout.write(`commits that raise a budget: not checked: ${reason}\n`)
  return []
}
