/**
 * Holds the promises of SECURITY.md to tests that are there.
 *
 * A paragraph that begins with "Held by:", and each row of a table with a column "held by", names at least one test
 * file. Everything else that it names in backticks is a file or a folder of src (both without `src/`, a file with or
 * without `.ts`) or `npm run NAME` for scripts/NAME.ts. Everywhere in the document a test is named by its whole path.
 * In the table of attackers each row has at most `promiseChars` characters of promise and leads to a section with such
 * a paragraph. Whether a test proves the promise is for people to judge.
 */
import type { Finding } from './finding.ts'

const document = 'SECURITY.md'
const promiseChars = 360

export function checkSecurityPromises(text: string, paths: ReadonlySet<string>): Finding[] {
  const lines = text.split('\n')
  const findings = lines.flatMap((line, index) => wordsIn(line).filter(isTest).filter((path) => !paths.has(path))
    .map((path) => finding(index, `names a test that is not there: ${path}`)))
  for (const { index, text: held } of [...heldCells(lines), ...heldParagraphs(lines)]) {
    const words = wordsIn(held)
    if (!words.some((word) => word.endsWith('.test.ts'))) {
      findings.push(finding(index, 'names no test that holds this promise'))
    }
    const unknown = words.filter((word) => !isTest(word) && !isSource(word, paths))
    findings.push(...unknown.map((word) => finding(index, `names what is neither in src nor a script: ${word}`)))
  }
  return [...findings, ...checkAttackers(lines)].sort((a, b) => a.line - b.line)
}

interface Held {
  readonly index: number
  readonly text: string
}

/** The rows of the table of attackers, `| [Name](#section) | promise |`. */
function checkAttackers(lines: readonly string[]): Finding[] {
  const held = new Set(heldParagraphs(lines).map(({ index }) => headingBefore(lines, index)))
  return lines.flatMap((line, index) => {
    const [, name = '', promise = ''] = /^\| (\[.*\]\(.*\)) \| (.*) \|$/.exec(line) ?? []
    const [, anchor] = /\]\(#([^)]+)\)$/.exec(name) ?? []
    if (anchor === undefined) return []
    const long = promise.length <= promiseChars
      ? []
      : [finding(index, `has a promise of more than ${promiseChars} characters`)]
    return held.has(anchor) ? long : [...long, finding(index, `leads to a section without "Held by:": ${anchor}`)]
  })
}

/** The anchor of the nearest heading above a line. */
function headingBefore(lines: readonly string[], index: number): string {
  const heading = lines.slice(0, index).findLast((line) => line.startsWith('#')) ?? ''
  return heading.replace(/^#+ /, '').toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')
}

function heldParagraphs(lines: readonly string[]): Held[] {
  return lines.flatMap((line, index) => {
    if (!line.startsWith('Held by:')) return []
    const end = lines.indexOf('', index)
    return [{ index, text: lines.slice(index, end === -1 ? undefined : end).join(' ') }]
  })
}

/** The cells below a heading "held by". */
function heldCells(lines: readonly string[]): Held[] {
  let column = -1
  return lines.flatMap((line, index) => {
    const cells = line.startsWith('|') ? line.split('|').map((cell) => cell.trim()) : []
    if (cells.length === 0) column = -1
    else if (column === -1) column = cells.indexOf('held by')
    else if (!line.startsWith('|---')) return [{ index, text: cells[column] ?? '' }]
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
  return paths.has(path) ||
    paths.has(`${path}.ts`) ||
    [...paths].some((known) => known.startsWith(path.endsWith('/') ? path : `${path}/`))
}

function finding(index: number, message: string): Finding {
  return { file: document, line: index + 1, rule: 'security-promises', message }
}
