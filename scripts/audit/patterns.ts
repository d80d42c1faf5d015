/**
 * The regular expressions of the source: literals, and those that `RegExp` makes of constants.
 *
 * `scripts/shape/evaluation.ts` evaluates the constants from the tokens, and no code of the source runs. An expression
 * of anything else is listed as not evaluated, and cannot be measured. A `RegExp` that gets another name is listed too.
 */
import { cooked, evaluate, type FindFile } from '../shape/evaluation.ts'
import { matchBrackets } from '../shape/functions.ts'
import type { SourceFile } from '../shape/source-file.ts'
import type { MeasuredPattern } from './pattern-time.ts'

export interface FoundPattern {
  readonly file: string
  readonly line: number
  /** As in the source; for a made one the source that came of it. */
  readonly text: string
  /** Undefined for an expression that is not evaluated. */
  readonly pattern: MeasuredPattern | undefined
}

export function patternsOf(file: SourceFile, find: FindFile = () => undefined): readonly FoundPattern[] {
  const literals = file.code.flatMap((token, index): FoundPattern[] => {
    if (token.kind !== 'regex') return []
    const end = token.text.lastIndexOf('/')
    const isRepeated = file.code[index - 1]?.text === '(' && file.code[index - 2]?.text === 'split'
    const pattern = { source: token.text.slice(1, end), flags: token.text.slice(end + 1), isRepeated }
    return [{ file: file.path, line: token.line, text: token.text, pattern }]
  })
  return [...literals, ...schemaTexts(file), ...madeOf(file, find)]
}

/** Texts that the validators of the schema compile: `pattern: '...'` and `keys: '...'` of a specification. */
function schemaTexts({ path, code }: SourceFile): readonly FoundPattern[] {
  if (!path.startsWith('src/schema/spec/')) return []
  return code.flatMap((token, index): FoundPattern[] => {
    const [name, colon] = [code[index - 2]?.text, code[index - 1]?.text]
    if (token.kind !== 'string' || colon !== ':' || (name !== 'pattern' && name !== 'keys')) return []
    const pattern = { source: cooked(token.text), flags: 'u', isRepeated: false }
    return [{ file: path, line: token.line, text: `/${pattern.source}/u`, pattern }]
  })
}

/** `RegExp` that is called, and `RegExp` that gets another name. */
function madeOf(file: SourceFile, find: FindFile): readonly FoundPattern[] {
  const { code, text, path } = file
  const partners = matchBrackets(code)
  return code.flatMap((token, index): FoundPattern[] => {
    if (token.text !== 'RegExp' || token.kind !== 'word' || code[index - 1]?.text === '.') return []
    const end = code[index + 1]?.text === '(' ? partners.get(index + 1) : undefined
    const isValue = '=(['.includes(code[index - 1]?.text ?? ' ') || code[index - 1]?.text === 'return'
    const isType = code[index - 3]?.text === 'type' || [']', ','].includes(code[index + 1]?.text ?? '')
    if (end === undefined && (!isValue || isType)) return []
    const from = code[index - 1]?.text === 'new' ? index - 1 : index
    const made = end === undefined ? undefined : evaluate(file, from, end + 1, find)
    const words = text.slice(code[from]?.start, code[end ?? index]?.end).split(/\s+/).join(' ')
    const isMade = made?.kind === 'pattern'
    const pattern = isMade ? { source: made.source, flags: made.flags, isRepeated: false } : undefined
    return [{ file: path, line: token.line, text: isMade ? `/${made.source}/${made.flags}` : words, pattern }]
  })
}
