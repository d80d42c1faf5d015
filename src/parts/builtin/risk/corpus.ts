/**
 * The texts of an action that an analyzer looks at, in a plain form: what would be executed, and what the model said.
 *
 * Letters of other widths become usual ones, and invisible characters are dropped, so that they hide no word.
 */

export interface Corpus {
  /** The name of the tool and each text in the arguments. */
  readonly executed: readonly string[]
  /** The model's text and thoughts, and the summary of the call. */
  readonly said: readonly string[]
}

/** The most characters that are looked at. More has an unknown risk. */
export const corpusLimitChars = 64 * 1024

/** Returns the texts; undefined when they are too long to be judged. */
export function corpusOf(toolName: string, args: string, said: readonly string[]): Corpus | undefined {
  const total = said.reduce((sum, text) => sum + text.length, args.length)
  if (total > corpusLimitChars) return undefined
  return { executed: [toolName, ...textsIn(parsed(args))].map(plain), said: said.map(plain) }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Works without recursion, since the model decides how deep the arguments are. */
function textsIn(value: unknown): readonly string[] {
  const texts: string[] = []
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') texts.push(next)
    else if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) left.push(member)
  }
  return texts
}

function plain(text: string): string {
  return text.normalize('NFKC').replace(/[\p{Cf}\u0000-\u0008\u000b-\u001f\u007f]/gu, '')
}
