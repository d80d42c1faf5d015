/**
 * Holds the promises of SECURITY.md to tests that are there.
 *
 * In a table with a column "held by", each row names at least one test file there, and whatever else it names in
 * backticks is a file or a folder of src (both without `src/`, a file with or without `.ts`) or `npm run NAME` for
 * scripts/NAME.ts. Everywhere in the document a test is named by its whole path. That a test proves what the row says is
 * for people to judge.
 */
import type { Finding } from './finding.ts'

const document = 'SECURITY.md'

export function checkSecurityPromises(text: string, paths: ReadonlySet<string>): Finding[] {
  const lines = text.split('\n')
  const findings = lines.flatMap((line, index) => wordsIn(line).filter(isTest).filter((path) => !paths.has(path))
    .map((path) => finding(index, `names a test that is not there: ${path}`)))
  for (const { index, cell } of heldCells(lines)) {
    const words = wordsIn(cell)
    if (!words.some((word) => word.endsWith('.test.ts'))) findings.push(finding(index, 'names no test that holds this promise'))
    const unknown = words.filter((word) => !isTest(word) && !isSource(word, paths))
    findings.push(...unknown.map((word) => finding(index, `names what is neither in src nor a script: ${word}`)))
  }
  return findings.sort((a, b) => a.line - b.line)
}

/** The cells below a heading "held by". */
function heldCells(lines: readonly string[]): { readonly index: number; readonly cell: string }[] {
  let column = -1
  return lines.flatMap((line, index) => {
    const cells = line.startsWith('|') ? line.split('|').map((cell) => cell.trim()) : []
    if (cells.length === 0) column = -1
    else if (column === -1) column = cells.indexOf('held by')
    else if (!line.startsWith('|---')) return [{ index, cell: cells[column] ?? '' }]
    return []
  })
}

function wordsIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
}

function isTest(word: string): boolean {
  return word.startsWith('test/') || word.endsWith('.test.ts')
}

function isSource(word: string, paths: ReadonlySet<string>): boolean {
  const script = /^npm run ([a-z-]+)$/.exec(word)?.[1]
  if (script !== undefined) return paths.has(`scripts/${script}.ts`)
  const path = `src/${word}`
  return paths.has(path) || paths.has(`${path}.ts`) || [...paths].some((known) => known.startsWith(path.endsWith('/') ? path : `${path}/`))
}

function finding(index: number, message: string): Finding {
  return { file: document, line: index + 1, rule: 'security-promises', message }
}
