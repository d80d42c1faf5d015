/**
 * The environment variables whose names stand in the source, by the use of each name: read, passed on to every program
 * or to the agents of a provider, set for a program, refused as the name of a secret, or only named.
 *
 * It reads the lists of `process/environment.ts`, `loader-variable.ts` and the table of the providers by their names.
 */
import { matchBrackets } from '../shape/functions.ts'
import type { SourceFile } from '../shape/source-file.ts'
import type { Token } from '../shape/tokens.ts'
import type { Found } from './surface.ts'

export const variableUses = ['read', 'passed on', 'for agents', 'set', 'refused', 'named'] as const

export interface Variable extends Found {
  readonly use: (typeof variableUses)[number]
}

/** The use of every name in a list, by the name of the list. */
const lists: ReadonlyMap<string, Variable['use']> = new Map([
  ['baseVariables', 'passed on'], ['variables', 'for agents'],
  ['steeringNames', 'refused'], ['steeringPrefixes', 'refused'], ['loginFolders', 'refused'],
])

const form = /^(?:HOME|PATH|TMPDIR|SHELL|LANG|LOGNAME|TERM|TZ|USER|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$/
/** The beginning of a template such as `OH_SESSION_API_KEYS_${index}`. */
const templateForm = /^`([A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*)\$\{$/

/** Words of this form that are no variables: constants of Node, and values of interfaces. */
const noVariable = new RegExp([
  /^(?:ERR|O|E|HPE|EAI|BROTLI_PARAM)_/,
  /^(?:CREATED|UPDATED|TIMESTAMP|IMAGE|MALFORMED)_/,
  /_(?:CONTENT|OK|TOOL_CALL|TOKENS|SPEED|FLUSH|INTEGER|TEXT|CODES)$/,
].map(({ source }) => source).join('|'))

export function variablesOf(files: readonly SourceFile[]): readonly Variable[] {
  return files.filter(({ path }) => !path.startsWith('src/schema/')).flatMap((file) => {
    const partners = matchBrackets(file.code)
    return file.code.flatMap((token, index): Variable[] => {
      const listed = token.kind === 'string' ? lists.get(listAround(file.code, partners, index)) : undefined
      const name = nameOf(token, file.code[index - 1])
      if (listed === undefined && name === undefined) return []
      const use = listed ?? useOf(file.code, partners, index)
      return [{ file: file.path, line: token.line, name: name ?? token.text, use }]
    })
  })
}

function nameOf({ kind, text }: Token, before: Token | undefined): string | undefined {
  const beginning = kind === 'template' ? templateForm.exec(text)?.[1] : undefined
  if (beginning !== undefined) return `${beginning}*`
  const isName = kind === 'string' || (kind === 'word' && before?.text !== '.')
  return isName && form.test(text) && (!noVariable.test(text) || text === 'OPENCODE_CONFIG_CONTENT') ? text : undefined
}

/** The name of `name = [`, `name: readonly string[] = [`, `name: new Set([` and `name: [`, in whose list a text is. */
function listAround(code: readonly Token[], partners: ReadonlyMap<number, number>, index: number): string {
  for (let at = index - 1; at >= 0; at--) {
    const partner = partners.get(at)
    if (partner !== undefined && partner < at) {
      at = partner
    } else if (code[at]?.text === '[') {
      return nameBefore(code, at)
    } else if (partner !== undefined) {
      return ''
    }
  }
  return ''
}

function nameBefore(code: readonly Token[], bracket: number): string {
  const before = code[bracket - 1]?.text
  if (before === ':') return code[bracket - 2]?.text ?? ''
  for (let at = bracket - 1; at >= 0 && at > bracket - 20; at--) {
    if (code[at]?.text === 'const') return code[at + 1]?.text ?? ''
  }
  return ''
}

function useOf(code: readonly Token[], partners: ReadonlyMap<number, number>, index: number): Variable['use'] {
  const [before, token, after] = [code[index - 1], code[index], code[index + 1]]
  if (before?.text === '[' && after?.text === ']' && code[index - 2]?.endsValue === true) {
    return code[index + 2]?.text === '=' ? 'set' : 'read'
  }
  if (after?.text === ':' && (before?.text === '{' || before?.text === ',' || before?.text === ')')) {
    return isPattern(code, partners, index) ? 'read' : 'set'
  }
  const key = before?.text === ':' ? code[index - 2]?.text : listAround(code, partners, index)
  if (key?.endsWith('Variable') === true || key?.endsWith('Variables') === true) return 'read'
  return token?.text.includes('OH_') === true ? 'read' : 'named'
}

/** True in `{ NAME: local }` that takes members of a value: an assignment, or a parameter. */
function isPattern(code: readonly Token[], partners: ReadonlyMap<number, number>, index: number): boolean {
  let end = index
  while (end < code.length && code[end]?.text !== '}') end = Math.max(end, partners.get(end) ?? end) + 1
  const [first, second] = [code[end + 1]?.text, code[end + 2]?.text]
  return first === ':' || first === '=' || (first === ')' && (second === '=>' || second === ':'))
}
