import * as assert from 'uvu/assert'
import { measureFunctions } from '../../../scripts/shape/functions.ts'
import { tokenize } from '../../../scripts/shape/tokens.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/functions')

const cases: readonly [name: string, text: string, lineCounts: readonly number[]][] = [
  ['a declaration', 'function a() {\n}', [2]],
  ['a declaration with type parameters', 'function a<T extends B<C>>(b: T) {\n}', [2]],
  ['a declaration whose parameters take lines', 'function a(\n  b: C,\n): D {\n  e\n}', [5]],
  ['a return type in braces', 'function a(): { b: C; d: { e: F } } {\n}', [2]],
  ['a return type with arguments', 'async function a(): Promise<Map<string, { b: C }>> {\n}', [2]],
  ['a return type that is a union, a list and a function', 'function a(): B | C[] | (() => void) {\n}', [2]],
  ['a return type that is a function', 'function a(): () => void {\n}', [2]],
  ['a type predicate', 'function a(b: unknown): b is C {\n}\nfunction d(e: unknown): asserts e is F {\n}', [2, 2]],
  ['a return type with keyof and typeof', 'function a(): keyof typeof b {\n}', [2]],
  ['a method, an accessor and a constructor', 'class A {\n  constructor() {\n  }\n  get b(): C {\n\n  }\n  #d() { }\n}',
    [2, 3, 1]],
  ['a method of a literal', 'const a = { b(c) {\n} }', [2]],
  ['an arrow', 'const a = (b: C) => {\n}\nconst d = e => {\n\n}', [2, 3]],
  ['an arrow with a return type', 'const a = (b: C): D => {\n}', [2]],
  ['functions in functions', 'function a() {\n  b(() => {\n  })\n}', [2, 4]],
  ['a body with substitutions in a template', 'function a() {\n  return `${b}}`\n}', [3]],
  ['nothing in conditions and blocks',
    'if (a) {\n}\nfor (const b of c) {\n}\nwhile (d) {\n}\nswitch (e) {\n}\ntry {\n} catch (f) {\n}', []],
  ['nothing in an asynchronous loop', 'for await (const a of b) {\n}', []],
  ['nothing in conditionals and cases',
    'a ? b(c) : { d: e }\nconst f = g ? h(i) : j\nif (k) {\n}\nswitch (l) {\n  case m(n): {\n  }\n  case o: {\n  }\n}',
    []],
  ['nothing in an arrow that gives an expression', 'const a = (b: C) => ({\n})', []],
  ['nothing in classes and types', 'class A extends B {\n}\ninterface C {\n  d(e: F): G\n}\ntype H = { i: J }', []],
  ['nothing behind the last token', 'declare function a(): B', []],
]
for (const [name, text, lineCounts] of cases) {
  test(`finds ${name}`, () => {
    assert.equal(measureFunctions(tokenize(text).code).map(({ lineCount }) => lineCount).sort(), [...lineCounts].sort())
  })
}

test('names the line where the parameters begin', () => {
  assert.equal(measureFunctions(tokenize('\nfunction a(\n) {\n}').code), [{ line: 2, lineCount: 3 }])
})

test.run()
