/** Exports that nothing but tests use. */
import * as assert from 'uvu/assert'
import { checkExports } from '../../../scripts/shape/exports.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/exports')

function find(texts: Readonly<Record<string, string>>): string[] {
  const files = Object.entries(texts).map(([path, text]) => readSource(path, text))
  return checkExports(files, (path) => path.startsWith('src/')).map(({ file, line, message }) => {
    return `${file}:${line} ${/"(.*)"/.exec(message)?.[1] ?? ''}`
  })
}

test('finds a function, a class and a constant that only tests import', () => {
  const code = 'export async function a() {}\nexport class B {}\nexport const c = 1\nexport function* d() {}\n'
  const tests = "import { a, B, c, d } from '../src/a.ts'"
  assert.equal(find({ 'src/a.ts': code, 'test/a.test.ts': tests }), [
    'src/a.ts:1 a', 'src/a.ts:2 B', 'src/a.ts:3 c', 'src/a.ts:4 d',
  ])
})

test('passes exports that src or scripts import, also as types, whole, again exported or at run time', () => {
  const code = 'export class A {}\nexport const b = 1\n'
  const users = [
    "import { type A, b as c } from './a.ts'", "import type { A, b } from './a.ts'", "import * as a from './a.ts'",
    "export { A, b } from './a.ts'", "const a = import('./a.ts')",
  ]
  for (const user of users) assert.equal(find({ 'src/a.ts': code, 'src/b.ts': user }), [], user)
  assert.equal(find({ 'src/a.ts': code, 'scripts/b.ts': "import { A, b } from '../src/a.ts'" }), [])
})

test('passes an export that its own file uses', () => {
  assert.equal(
    find({
      'src/a.ts': 'export const limit = 1\nexport const twice = 2 * limit\n',
      'src/b.ts': "import { twice } from './a.ts'",
    }),
    [],
  )
})

test.run()
