/**
 * The public types: `src/index.d.ts` and the declarations that it needs, directly or not. The package has these in
 * `dist/types`, and no other declaration.
 */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** `from './a.ts'` and `import('./a.ts')`. */
const specifier = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g

/** The declarations by path, as in `src`. @throws Error when one names a module that has no declaration */
export function publicTypes(dist: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const waiting = ['index.d.ts']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const text = readFileSync(join(dist, 'src', path), 'utf8')
    found.set(path, text)
    for (const [, name = ''] of text.matchAll(specifier)) {
      waiting.push(`${posix.join(posix.dirname(path), name)}.d.ts`)
    }
  }
  return found
}
