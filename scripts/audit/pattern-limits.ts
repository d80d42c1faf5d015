/**
 * Holds the longest text of each regular expression whose texts are shorter or longer than usual, with the place that
 * limits it.
 *
 * Every other expression is measured with `usualChars`: more than a name, a line, a header, an address or a setting
 * has. Expressions that the audit cannot evaluate are listed as well, each with its reason. A row that fits no
 * expression of the source is an error.
 */

export const usualChars = 256 * 1024

export interface PatternLimit {
  readonly file: string
  /** The beginning of the expression as it is written. */
  readonly begins: string
  readonly chars: number
  /** The limit that bounds the text. */
  readonly why: string
}

const message = 16 * 1024 * 1024

export const patternLimits: readonly PatternLimit[] = [
  { file: 'src/conversation/extra/titles.ts', begins: '/^(["', chars: 2000, why: 'lookedAtChars' },
  { file: 'src/parts/builtin/risk/patterns.ts', begins: '', chars: 64 * 1024, why: 'corpusLimitChars of corpus.ts' },
  { file: 'src/parts/builtin/risk/shell-words.ts', begins: '', chars: 64 * 1024, why: 'corpusLimitChars of corpus.ts' },
  { file: 'src/parts/extensions/archive/tar.ts', begins: '/^ *(', chars: 12, why: 'a number in a header of tar' },
  {
    file: 'src/parts/console/page/conversation/image-view.ts', begins: '/=*$/', chars: 200,
    why: 'the beginning of an address',
  },
  { file: 'src/agents/acp/calls/tool-calls.ts', begins: '', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/rpc/lines.ts', begins: '/^(?:', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/agents/acp/calls/output.ts', begins: '/^[A-Za-z0-9+/]+', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/parts/mcp/result.ts', begins: '/^[A-Za-z0-9+/]+', chars: message, why: 'a message of an MCP server' },
]

export interface Unmeasured {
  readonly file: string
  /** The beginning of the code that makes the expression. */
  readonly begins: string
  readonly why: string
}

export const unmeasured: readonly Unmeasured[] = [
  { file: 'src/conversation/agent/hook-config.ts', begins: 'new RegExp(source)', why: 'compiled, and never matched' },
  {
    file: 'src/parts/patterns/pattern-worker.ts', begins: 'new RegExp(source, flags)',
    why: 'an expression from outside: it runs in a thread that is ended when it takes too long',
  },
  {
    file: 'src/parts/builtin/llm/failures.ts', begins: 'new RegExp(patterns.map(',
    why: 'joins literals of the file, each of which is measured',
  },
  {
    file: 'src/parts/selftest/touches.ts', begins: 'new RegExp(`^${source}$`)',
    why: 'made of the rows of the file, for the paths of the self-test',
  },
  { file: 'src/schema/check.ts', begins: "new RegExp(pattern, 'u')", why: 'a text of src/schema/spec, measured there' },
  {
    file: 'src/schema/check.ts', begins: "new RegExp(schema.keys, 'u')",
    why: 'a text of src/schema/spec, measured there',
  },
]

export function whyUnmeasured(file: string, text: string): Unmeasured | undefined {
  return unmeasured.find((row) => row.file === file && text.startsWith(row.begins))
}

export function limitOf(file: string, text: string): PatternLimit | undefined {
  return patternLimits.find((row) => row.file === file && text.startsWith(row.begins))
}
