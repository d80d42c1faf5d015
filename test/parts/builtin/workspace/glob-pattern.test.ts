import * as assert from 'uvu/assert'
import { suite } from '../../../support/suite.ts'
import { parseGlob, type GlobState } from '../../../../src/parts/builtin/workspace/glob-pattern.ts'

const test = suite('workspace/glob-pattern')

function matches(pattern: string, path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  let state: GlobState | undefined = parseGlob(pattern)
  for (const part of parts) state = state?.enter(part)
  return state?.matches(name) === true
}

const table: readonly (readonly [pattern: string, matching: readonly string[], other: readonly string[]])[] = [
  ['*', ['a', 'a.b'], ['.a', 'a/b']],
  ['*.ts', ['a.ts', '.ts.ts'.slice(1)], ['a.tsx', 'a/b.ts', '.ts']],
  ['./*.ts', ['a.ts'], ['a/b.ts']],
  ['a?c', ['abc', 'a🙂c', 'a.c'], ['ac', 'abbc', 'a/c']],
  ['?a', ['xa'], ['.a', 'a']],
  ['**/*.ts', ['a.ts', 'a/b.ts', 'a/b/c.ts'], ['a/.b/c.ts', 'a/b.js']],
  ['src/**', ['src/a', 'src/a/b'], ['src', 'other/a', 'src/.a', 'src/.a/b']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['z', 'a/b', 'a/b/zz']],
  ['**/a/**/b', ['a/b', 'x/a/b', 'a/x/b', 'x/a/y/b', 'a/a/b/b'], ['b', 'x/b']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
  ['.*', ['.a', '.env'], ['a']],
  ['.github/**/*.yml', ['.github/a.yml', '.github/b/a.yml'], ['github/a.yml']],
  ['**/.env', ['.env', 'a/.env'], ['a/b.env']],
  ['[a-c]x', ['ax', 'bx', 'cx'], ['dx', 'x', '-x']],
  ['[!a-c]x', ['dx', '-x'], ['ax']],
  ['[^a]x', ['bx'], ['ax']],
  ['[]]x', [']x'], ['ax']],
  ['[a-]x', ['ax', '-x'], ['bx']],
  ['[.]a', [], ['.a']],
  ['[a', ['[a'], ['a']],
  ['*.{ts,js}', ['a.ts', 'a.js'], ['a.json', 'a.{ts,js}']],
  ['{a,b{c,d}}/x', ['a/x', 'bc/x', 'bd/x'], ['b/x', 'c/x']],
  ['{a,b/**}/x', ['a/x', 'b/x', 'b/c/x'], ['c/x']],
  ['{a}', ['{a}'], ['a']],
  ['{a,b', ['{a,b'], ['a', 'b']],
  ['a{,.b}', ['a', 'a.b'], ['a.']],
  ['\\*', ['*'], ['a']],
  ['\\{a,b\\}', ['{a,b}'], ['a']],
  ['{a\\,b,c}', ['a,b', 'c'], ['a']],
  ['\\\\{a,b}', ['\\a', '\\b'], ['\\{a,b}']],
  ['a\\', ['a\\'], ['a']],
  ['a/*/b', ['a/x/b'], ['a/b', 'a/x/y/b']],
  ['naïve🙂*', ['naïve🙂.txt'], ['naive']],
  ['A', ['A'], ['a']],
]

test('a pattern matches what it stands for', () => {
  for (const [pattern, matching, other] of table) {
    for (const path of matching) assert.ok(matches(pattern, path), `${pattern} should match ${path}`)
    for (const path of other) assert.not(matches(pattern, path), `${pattern} should not match ${path}`)
  }
})

test('a directory where nothing can match is not entered', () => {
  assert.is(parseGlob('src/*.ts').enter('test'), undefined)
  assert.is(parseGlob('*.ts').enter('src'), undefined)
  assert.is(parseGlob('src/*.ts').enter('src')?.enter('deep'), undefined)
  assert.ok(parseGlob('**').enter('x')?.enter('y') !== undefined)
})

test('a hostile pattern takes no longer than others', () => {
  const name = 'a'.repeat(255)
  assert.not(matches(`${'*a'.repeat(200)}b`, name))
  assert.not(matches(`${'**/'.repeat(100)}b`, `${'a/'.repeat(100)}a`))
})

test('patterns are bounded', () => {
  assert.throws(() => parseGlob(''), /it has 0 characters, expected 1 to 1000/)
  assert.throws(() => parseGlob('x'.repeat(1001)), /1001 characters/)
  assert.throws(() => parseGlob('{a,b}'.repeat(20)), /more than 500 alternatives/)
  assert.ok(parseGlob('{'.repeat(100) + 'a,b}'.repeat(100)).matches('a' + 'a'.repeat(99)))
})

test.run()
