import * as assert from 'uvu/assert'
import { readImports } from '../../../scripts/shape/imports.ts'
import { tokenize } from '../../../scripts/shape/tokens.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/imports')

/** `specifier`, then the names taken at run time, or `(types)`. */
const cases: readonly [text: string, expected: readonly string[]][] = [
  ["import 'a'", ['a *']],
  ["import a from 'a'", ['a *']],
  ["import * as a from 'a'", ['a *']],
  ["import { b, c as d, default as e } from 'a'", ['a b,c,default']],
  ["import { type b, c, type d as e } from 'a'", ['a c']],
  ["import { type b } from 'a'", ['a (types)']],
  ["import { type as b } from 'a'", ['a type']],
  ["import type { b } from 'a'", ['a (types)']],
  ["import type b from 'a'", ['a (types)']],
  ["import type * as b from 'a'", ['a (types)']],
  ["import a, { b } from 'a'", ['a *,b']],
  ["import { from } from 'a'", ['a from']],
  ["import {\n  b,\n  c,\n} from 'a'", ['a b,c']],
  ["export { b } from 'a'\nexport * from 'c'\nexport * as d from 'e'", ['a b', 'c *', 'e *']],
  ["export type { b } from 'a'\nexport type * from 'c'", ['a (types)', 'c (types)']],
  ["const a = await import('a')", ['a *']],
  ['import(a)', []],
  ["const url = import.meta.url; const a = 'x'", []],
  ["export { a }\nconst from = 'a'", []],
  ["export type A = { from: 'a' }\nexport const b = 'c'\nexport default d", []],
  ["a.import('b'); a.export", []],
  ["// import 'a'\nconst b = \"import 'c'\"", []],
]
for (const [text, expected] of cases) {
  test(`reads ${text.replaceAll('\n', ' ')}`, () => {
    const found = readImports(tokenize(text).code)
    const words = found.map(({ specifier, typeOnly, names }) => {
      return `${specifier} ${typeOnly ? '(types)' : names.join(',')}`
    })
    assert.equal(words, expected)
  })
}

test('gives the line of the specifier', () => {
  assert.is(readImports(tokenize("\nimport {\n  b,\n} from 'a'").code)[0]?.line, 4)
})

test.run()
