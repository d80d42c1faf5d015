/**
 * How a sentence of the specification stands in the lists of this folder: where it is, its meaning in our words, and
 * the proofs that hold it.
 *
 * The proofs are one or more of: `<file>: <name of a test>`, with the file under test/ and without its ending; `later:
 * <part>`, for a proof that another part of the work will bring; `note: <reason>`, where there is nothing to hold.
 */
export type Sentence = readonly [says: string, ...heldBy: string[]]

/** Place in the section (number of the rule, name of the row; `.2` for its second sentence) -> sentence. */
export type Sentences = Readonly<Record<string, Sentence>>

export type Proof =
  | { readonly kind: 'test'; readonly file: string; readonly name: string }
  | { readonly kind: 'later'; readonly part: string }
  | { readonly kind: 'note'; readonly reason: string }

/** The parts that are still to come. */
export const parts = ['built-in agent', 'tools, browser, memory', 'console'] as const

export function parseProof(text: string): Proof {
  const colon = text.indexOf(': ')
  const [head, rest] = [text.slice(0, colon), text.slice(colon + 2)]
  if (colon < 1 || rest === '') throw new TypeError(`Expected what holds a sentence, got "${text}"`)
  if (head === 'later') return { kind: 'later', part: rest }
  if (head === 'note') return { kind: 'note', reason: rest }
  return { kind: 'test', file: `test/${head}.test.ts`, name: rest }
}
