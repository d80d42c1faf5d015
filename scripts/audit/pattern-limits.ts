/**
 * The greatest texts of regular expressions that get shorter or longer ones than others, with the place that says so.
 *
 * Every other expression is measured with `usualChars`: more than a name, a line, a header, an address or a setting
 * has. A row that fits no expression of the source is an error.
 */

export const usualChars = 256 * 1024

export interface PatternLimit {
  readonly file: string
  /** The beginning of the expression as it is written. */
  readonly begins: string
  readonly chars: number
  /** What bounds the text. */
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
  { file: 'src/agents/acp/tool-calls.ts', begins: '', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/rpc/lines.ts', begins: '/^(?:', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/agents/acp/output.ts', begins: '/^[A-Za-z0-9+/]+', chars: message, why: 'agentLineLimitBytes' },
  { file: 'src/parts/mcp/result.ts', begins: '/^[A-Za-z0-9+/]+', chars: message, why: 'a message of an MCP server' },
]

export function limitOf(file: string, text: string): PatternLimit | undefined {
  return patternLimits.find((row) => row.file === file && text.startsWith(row.begins))
}
