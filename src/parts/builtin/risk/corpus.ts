/**
 * The texts that an analyzer searches for signs of risk.
 *
 * The texts are normalized (Unicode NFKC), and invisible characters are dropped.
 */

export interface Corpus {
  /** The name of the tool, and the strings in the call's arguments. */
  readonly executed: readonly string[]
  /** The model's text and thoughts, and the summary of the call. */
  readonly said: readonly string[]
}

/**
 * The largest total length of a call's arguments and of `said`, in characters. For a longer call, the pattern analyzer
 * and the policy-rail analyzer return UNKNOWN.
 */
export const corpusLimitChars = 64 * 1024

/** Returns the normalized texts; undefined when `args` and `said` together exceed `corpusLimitChars`. */
export function corpusOf(toolName: string, args: string, said: readonly string[]): Corpus | undefined {
  const total = said.reduce((sum, text) => sum + text.length, args.length)
  if (total > corpusLimitChars) return undefined
  return { executed: [toolName, ...textsIn(parsed(args))].map(plain), said: said.map(plain) }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json // Arguments that are not JSON are judged as text.
  }
}

/** Returns the strings in a value, without member names. Uses no recursion, because the model decides the depth. */
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
