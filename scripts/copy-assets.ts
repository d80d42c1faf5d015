/**
 * Copies what the compiler does not: the files of `src/` that the program reads at run time.
 * Run by `npm run build` after tsc. Adds nothing and decides nothing: the list below is the whole of it.
 */
import { cpSync, existsSync } from 'node:fs'

/** Paths relative to the repository's root. */
const assets = ['src/schema/generated/openapi.json']

for (const asset of assets) {
  const from = new URL(`../../${asset}`, import.meta.url)
  if (existsSync(from)) cpSync(from, new URL(`../${asset}`, import.meta.url))
}
