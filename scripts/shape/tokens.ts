/**
 * TypeScript source as tokens, so that a rule about code never trips over a string, a comment or a regular expression.
 *
 * TypeScript 7 has no compiler API for JavaScript, and the checks need little: words, marks and literals with their
 * lines, comments apart. This is no parser: it trusts that the compiler has accepted the text. The one ambiguity of
 * the grammar, a slash that divides or begins a regular expression, is decided from the token before it
 * (ECMA-262, section 12, "goal symbols").
 */

export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'template' | 'regex' | 'mark'
  /** As written; a string without its quotes. */
  readonly text: string
  readonly line: number
  /** Offset of the first character, and of the first one behind. */
  readonly start: number
  readonly end: number
  /** True where a value ends here, so that a slash behind it divides and an exclamation mark asserts. */
  readonly endsValue: boolean
}

export interface Comment {
  readonly text: string
  readonly line: number
}

export interface Tokens {
  readonly code: readonly Token[]
  readonly comments: readonly Comment[]
}

/**
 * Splits one source file.
 * @throws SyntaxError where no token begins, which the compiler would have refused.
 */
export function tokenize(text: string, path = 'source'): Tokens {
  const state: State = { text, path, at: 0, line: 1, code: [], comments: [], nesting: [] }
  take(state, shebang)
  while (state.at < text.length) step(state)
  return { code: state.code, comments: state.comments }
}

/** Keywords behind which an expression begins; after any other word a value has ended. */
const beforeExpression = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(' '),
)
/** Words whose parentheses hold a condition, not arguments: `if (a) /b/.test(c)`. `await` is that of `for await`. */
export const controlWords: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await'])

const shebang = /#![^\n]*/y
const space = /\s+/y
const comment = /\/\/[^\n]*|\/\*[^]*?\*\//y
const string = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y
const number = /\.?\d[\w.]*/y
const word = /[#@]?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy
/** From a backtick or the brace that closes a substitution, to a backtick or the next substitution. */
const templatePart = /[`}](?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y
/** A class in brackets may hold an unescaped slash. */
const regex = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
/** `>` stays single: `>>` may close two lists of type arguments. */
const mark = /=>|\.\.\.|\?\.(?!\d)|\?\?|!==?|===?|&&|\|\||\+\+|--|[^]/y

interface State {
  readonly text: string
  readonly path: string
  at: number
  line: number
  readonly code: Token[]
  readonly comments: Comment[]
  /** The open brackets, with conditions and template substitutions told apart. */
  readonly nesting: ('{' | '${' | '(' | 'condition' | '[')[]
}

function step(state: State): void {
  const { at, line } = state
  const char = state.text.charAt(at)
  if (take(state, space) !== undefined) return
  const remark = take(state, comment)
  if (remark !== undefined) {
    state.comments.push({ text: remark, line })
  } else if (char === '`' || (char === '}' && state.nesting.at(-1) === '${')) {
    readTemplatePart(state)
  } else if (char === '/' && state.code.at(-1)?.endsValue !== true) {
    readLiteral(state, 'regex', regex)
  } else if (char === "'" || char === '"') {
    readLiteral(state, 'string', string)
  } else {
    readPlain(state)
  }
}

function readTemplatePart(state: State): void {
  const { at, line } = state
  const text = required(state, templatePart, 'a template')
  if (text.startsWith('}')) state.nesting.pop()
  const open = text.endsWith('${')
  if (open) state.nesting.push('${')
  push(state, { kind: 'template', text, line, start: at, endsValue: !open })
}

function readLiteral(state: State, kind: 'regex' | 'string', pattern: RegExp): void {
  const { at, line } = state
  const text = required(state, pattern, `a ${kind}`)
  push(state, { kind, text: kind === 'string' ? text.slice(1, -1) : text, line, start: at, endsValue: true })
}

function readPlain(state: State): void {
  const { at: start, line } = state
  const digits = take(state, number)
  if (digits !== undefined) return push(state, { kind: 'number', text: digits, line, start, endsValue: true })
  const name = take(state, word)
  if (name !== undefined) {
    const isProperty = state.code.at(-1)?.text === '.'
    return push(state, { kind: 'word', text: name, line, start, endsValue: isProperty || !beforeExpression.has(name) })
  }
  const text = required(state, mark, 'a token')
  push(state, { kind: 'mark', text, line, start, endsValue: nest(state, text) })
}

/** Follows the brackets, and tells whether a value ends at this mark. */
function nest(state: State, text: string): boolean {
  const before = state.code.at(-1)
  if (text === '(') state.nesting.push(before !== undefined && controlWords.has(before.text) ? 'condition' : '(')
  else if (text === '[' || text === '{') state.nesting.push(text)
  else if (text === ')') return state.nesting.pop() !== 'condition'
  else if (text === ']') return state.nesting.pop() !== undefined
  // Behind a block a statement begins; nobody divides an object literal.
  else if (text === '}') state.nesting.pop()
  else if (text === '++' || text === '--') return true
  // The assertion `a!` leaves a value, the negation `!a` does not.
  else if (text === '!') return before?.endsValue === true && before.end === state.at - 1
  return false
}

function push(state: State, token: Omit<Token, 'end'>): void {
  state.code.push({ ...token, end: state.at })
}

function required(state: State, pattern: RegExp, what: string): string {
  const { line } = state
  const text = take(state, pattern)
  if (text === undefined) throw new SyntaxError(`Cannot read ${what} at ${state.path}:${line}`)
  return text
}

function take(state: State, pattern: RegExp): string | undefined {
  pattern.lastIndex = state.at
  const text = pattern.exec(state.text)?.[0]
  if (text === undefined) return undefined
  state.at += text.length
  for (const char of text) if (char === '\n') state.line++
  return text
}
