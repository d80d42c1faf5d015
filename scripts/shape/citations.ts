/**
 * Holds the citations in comments to headings of documents that are in this repository.
 *
 * A citation is `decisions 6 and 13`, `contract: settings.md, section 2.4` (or `contract/settings.md 2.4`),
 * `settings.md, "condenser"`, `payloads.md, TerminalAction`, `spec: Credentials 6`, `spec: "Event variants"` or
 * `sessions.md, "Ending"`.
 * Each number and each name has to be a heading: `## 13. A full disk`, `### 2.4 Merging`, `## Credentials 6`. Whether
 * the section supports the comment is for people to judge. A document that is not in this repository is not cited.
 */
import type { Finding } from './finding.ts'
import type { Comment } from './tokens.ts'

/** Path from the repository's root -> text, of the documents that can be cited. */
export type Documents = ReadonlyMap<string, string>

export interface CommentedFile {
  readonly path: string
  readonly comments: readonly Comment[]
}

/** A document as comments name it, and the headings that they cite. */
interface Citation {
  readonly document: string
  /** Numbers and names of headings; empty for a citation that names none. */
  readonly headings: readonly string[]
  /** As written, for the message. */
  readonly text: string
  /** Offset in the text of the comment. */
  readonly at: number
}

const decisionsPath = 'src/DECISIONS.md'
const specificationPath = 'src/schema/contract/spec.md'
const paths: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['conversations', 'events', 'others', 'payloads', 'settings', 'tests', 'websocket']
    .map((name) => [name, `src/schema/contract/${name}.md`])),
  agents: 'src/agents/acp/agents.md',
  sessions: 'src/agents/acp/sessions.md',
}
/** Documents that comments cited before and that are not here. */
const absent = ['acp', 'clients', 'decisions', 'design', 'models', 'spec']

const numbers = String.raw`\d+(?:\.\d+)*(?:(?:, (?:and )?| and | to |-)\d+(?:\.\d+)*)*`
const quotes = String.raw`"[^"]+"(?:(?:, | and )"[^"]+")*`
const names = '`?[A-Z][A-Za-z]+`?(?: and `?[A-Z][A-Za-z]+`?)*'
const decisionForm = form(String.raw`\b[Dd]ecisions?,? (${numbers})`)
const pageForm = form(
  String.raw`\b([a-z]+)\.md\b(?:'s)?\x60?(?:,? (?:(?:sections? )?(${numbers})|(${quotes})|(${names})))?`,
)
const numbered = `(Credentials|Events) (${numbers})`
const specificationForm = form(
  String.raw`\b[Ss]pec(?:ification)?(?:'s)?(?:[:,]? (?:sections? )?(${quotes})|[:,] (?:${numbered}|(${names})))`,
)

/** A blank stands for the white space between two words, which may be the end of a line. */
function form(source: string): RegExp {
  return new RegExp(source.replaceAll(' ', ' +'), 'g')
}

/** Every citation of these files that names no heading. Without documents no citation is looked at. */
export function checkCitations(files: readonly CommentedFile[], documents: Documents | undefined): Finding[] {
  if (documents === undefined) return []
  const headings = new Map([...documents].map(([path, text]) => [path, headingsOf(text)]))
  return files.flatMap(({ path, comments }) => comments.flatMap((comment) =>
    citationsIn(flat(comment.text)).flatMap((citation) => {
      const problem = problemOf(citation, headings)
      if (problem === undefined) return []
      const line = comment.line + comment.text.slice(0, citation.at).split('\n').length - 1
      return [{ file: path, line, rule: 'citations', message: `"${citation.text}": ${problem}` }]
    })))
}

/** The comment as one line, each character in its place, so that a citation may go over the end of a line. */
function flat(text: string): string {
  return text.replace(/\n[ \t]*\*(?!\/)/g, (margin) => ' '.repeat(margin.length)).replaceAll('\n', ' ')
}

function citationsIn(text: string): Citation[] {
  return [
    ...[...text.matchAll(decisionForm)].map((match) => cite(decisionsPath, match, numbersIn(match[1]))),
    ...[...text.matchAll(pageForm)].flatMap(pageCitation),
    ...[...text.matchAll(specificationForm)].map((match) => cite(specificationPath, match, [
      ...quotesIn(match[1]),
      ...numbersIn(match[3]).map((number) => `${match[2] ?? ''} ${number}`),
      ...namesIn(match[4]),
    ])),
  ]
}

function pageCitation(match: RegExpMatchArray): Citation[] {
  const [, name = '', listed, quoted, named] = match
  const document = paths[name] ?? (absent.includes(name) ? `${name}.md` : undefined)
  if (document === undefined) return []
  const headings = [...numbersIn(listed), ...quotesIn(quoted), ...namesIn(named)]
  // A page beside the file may be named as a whole.
  if (headings.length === 0 && document.startsWith('src/agents/')) return []
  return [cite(document, match, headings)]
}

function cite(document: string, match: RegExpMatchArray, headings: readonly string[]): Citation {
  return { document, headings, text: match[0].replace(/\s+/g, ' '), at: match.index ?? 0 }
}

/**
 * Returns the numbers of a list, with the numbers between the ends of a range of whole numbers: `1 to 3` is 1, 2, 3.
 */
function numbersIn(list = ''): string[] {
  const parts = list.match(/\d+(?:\.\d+)*| to |-/g) ?? []
  return parts.flatMap((part, index) => {
    if (/^\d/.test(part)) return [part]
    const [from, to] = [Number(parts[index - 1]), Number(parts[index + 1])]
    return Array.from({ length: Math.max(0, to - from - 1) }, (_, step) => String(from + 1 + step))
  })
}

function quotesIn(list = ''): string[] {
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replace(/\s+/g, ' '))
}

function namesIn(list = ''): string[] {
  return list.match(/[A-Z][A-Za-z]+/g) ?? []
}

function problemOf(
  { document, headings }: Citation, known: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  const there = known.get(document)
  if (there === undefined) return `${document} is not in this repository: cite a document that is`
  if (headings.length === 0) return `name the section of ${document}`
  const missing = headings.filter((heading) => !there.has(heading))
  return missing.length === 0 ? undefined : `${document} has no heading ${missing.join(', ')}`
}

/** The headings of a Markdown text: of `## 2.4 Merging`, both `2.4` and `Merging`. */
function headingsOf(text: string): Set<string> {
  const lines = text.replace(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} +(.+?)\s*$/gm)
  return new Set([...lines].flatMap(([, line = '']) => {
    const title = line.replaceAll('`', '')
    const [, number, name] = /^(\d+(?:\.\d+)*)\.? +(.+)$/.exec(title) ?? []
    return number === undefined || name === undefined ? [title] : [number, name]
  }))
}
