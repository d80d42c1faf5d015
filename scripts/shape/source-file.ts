/**
 * One source file as the rules see it: its path, lines, tokens and imports, read once.
 */
import { readImports, type Import } from './imports.ts'
import { tokenize, type Comment, type Token } from './tokens.ts'

export interface SourceFile {
  /** From the repository's root, with slashes: `src/ws/parser.ts`. */
  readonly path: string
  readonly text: string
  readonly lineCount: number
  readonly code: readonly Token[]
  readonly comments: readonly Comment[]
  readonly imports: readonly Import[]
}

/** @throws SyntaxError for a text that the compiler would refuse. */
export function readSource(path: string, text: string): SourceFile {
  const { code, comments } = tokenize(text, path)
  const lineCount = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  return { path, text, lineCount, code, comments, imports: readImports(code) }
}
