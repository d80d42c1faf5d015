/**
 * Holds every Markdown file of the tree to its links, its citations and a width of 120 columns.
 *
 * A relative link leads to a file of the tree, and its fragment to a heading there. A path in backticks that begins
 * with `src/`, `scripts/` or `test/` is a file or folder of the tree; one like `ws/parser.ts` is a file of src or of
 * the document's own folder. Tables, code blocks and a line of one link may be wider. Links to other sites are
 * not followed.
 */
import { posix } from 'node:path'
import { limits } from './architecture.ts'
import { checkCitations, type Documents } from './citations.ts'
import type { Finding } from './finding.ts'

/** Folders that a build or an installation makes, which a document may name. */
const madePaths = /^(?:dist|node_modules)\//

/** `paths` holds every file of the tree. */
export function checkDocuments(documents: Documents, paths: ReadonlySet<string>): Finding[] {
  const anchors = new Map([...documents].map(([path, text]) => [path, anchorsOf(text)]))
  const prose = [...documents].map(([path, text]) => ({ path, comments: [{ line: 1, text: withoutNames(text) }] }))
  return [
    ...[...documents].flatMap(([path, text]) => checkWidth(path, text)),
    ...[...documents].flatMap(([path, text]) => checkLinks(path, text, anchors, paths)),
    ...[...documents].flatMap(([path, text]) => checkPaths(path, text, paths)),
    ...checkCitations(prose, documents),
  ]
}

/** Returns the lines of a text; the lines of code blocks are empty. */
function proseLines(text: string): string[] {
  return withoutBlocks(text).split('\n')
}

function withoutBlocks(text: string): string {
  return text.replace(/^ *(```+)[^]*?^ *\1 *$/gm, (block) => '\n'.repeat(block.split('\n').length - 1))
}

/** Links and code stay out of the search for citations. The lines keep their numbers. */
function withoutNames(text: string): string {
  return withoutBlocks(text).replace(/\[[^\]]*\]\([^)\s]*\)|`[^`\n]*\/[^`\n]*`/g, (name) => name.replace(/[^\n]/g, ' '))
}

function checkWidth(path: string, text: string): Finding[] {
  return proseLines(text).flatMap((line, index) => {
    const width = Array.from(line).length
    const words = line.trim().replace(/\[[^\]]*\]\([^)]*\)/g, '[]')
    if (width <= limits.columns || line.startsWith('|') || !words.includes(' ')) return []
    return [finding(path, index, `${width} columns: wrap the line (limit ${limits.columns})`)]
  })
}

function checkLinks(
  path: string, text: string, anchors: ReadonlyMap<string, ReadonlySet<string>>, paths: ReadonlySet<string>,
): Finding[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, (code) => '`'.repeat(code.length))
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((link) => {
    const [, target = ''] = link
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', fragment] = target.split('#')
    const to = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '')
    const index = prose.slice(0, link.index).split('\n').length - 1
    if (!isPath(to, paths)) return [finding(path, index, `the link ${target} leads to no file`)]
    if (fragment === undefined || anchors.get(to)?.has(fragment) === true) return []
    return [finding(path, index, `the link ${target} leads to no heading`)]
  })
}

function checkPaths(path: string, text: string, paths: ReadonlySet<string>): Finding[] {
  const isMissing = (name: string): boolean => placesOf(path, name)?.every((place) => !isPath(place, paths)) === true
  return proseLines(text).flatMap((line, index) =>
    [...line.matchAll(/`([^`\s<>{}*]+)`/g)].map(([, name = '']) => name).filter(isMissing)
      .map((name) => finding(path, index, `there is no ${name}`)))
}

/** The places that a name in backticks may mean. Undefined for a name that is no path of this repository. */
function placesOf(document: string, name: string): readonly string[] | undefined {
  const known = name.replace(/\/$/, '')
  if (/^(?:src|scripts|test)\//.test(name)) return [known, `${known}.ts`]
  if (!/^(?:[a-z0-9.-]+\/)+[a-z0-9-]+\.ts$/.test(name)) return undefined
  return [`src/${name}`, posix.normalize(posix.join(posix.dirname(document), name))]
}

function isPath(name: string, paths: ReadonlySet<string>): boolean {
  return name === '.' ||
    madePaths.test(name) ||
    paths.has(name) ||
    [...paths].some((known) => known.startsWith(`${name}/`))
}

/** The fragments of the headings, as GitHub makes them: lower case, hyphens for spaces, no other marks. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, title = ''] of withoutBlocks(text).matchAll(/^#{1,6} +(.+?)\s*$/gm)) {
    const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let copy = 1; anchors.has(unique); copy++) unique = `${anchor}-${copy}`
    anchors.add(unique)
  }
  return anchors
}

function finding(file: string, index: number, message: string): Finding {
  return { file, line: index + 1, rule: 'documents', message }
}
