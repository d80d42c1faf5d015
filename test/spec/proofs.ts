/**
 * Whether the proofs that a sentence names exist: a test is found by its name as it stands in the source of its file,
 * where a name with `${...}` is a family of tests.
 */
import { existsSync, readFileSync } from 'node:fs'
import { parts, type Proof } from './sentences/sentence.ts'

const root = new URL('../../../', import.meta.url)
const namesByFile = new Map<string, ReadonlySet<string>>()

/** Returns why a proof does not hold; undefined when it does. */
export function faultOf(proof: Proof): string | undefined {
  switch (proof.kind) {
    case 'note': return undefined
    case 'later': return parts.some((part) => part === proof.part) ? undefined : `There is no part "${proof.part}"`
    case 'test': return namesIn(proof.file).has(proof.name) ? undefined : `No test "${proof.name}" in ${proof.file}`
  }
}

function namesIn(file: string): ReadonlySet<string> {
  const known = namesByFile.get(file)
  if (known !== undefined) return known
  const path = new URL(file, root)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // The first argument of `test`, or of `browse` where a browser is needed: a text in any quotes.
  const found = text.matchAll(/^ *(?:test|browse)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm)
  const names = new Set([...found].map(([, , name = '']) => name.replaceAll(/\\(.)/g, '$1')))
  namesByFile.set(file, names)
  return names
}
