import * as assert from 'uvu/assert'
import { checkSecurityPromises } from '../../../scripts/shape/security-promises.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/security-promises')
const paths = new Set(['src/access.ts', 'src/http/auth.ts', 'scripts/real-mcp.ts', 'test/access.test.ts', 'test/http/auth.test.ts'])
const table = (...cells: readonly string[]): string => ['# S', '', '| a | held by |', '|---|---|', ...cells.map((cell) => `| x \`y\` | ${cell} |`), '', 'End'].join('\n')
const found = (text: string): string[] => checkSecurityPromises(text, paths).map(({ line, message }) => `${line} ${message}`)

test('takes rows that name tests, files, folders and scripts that are there', () => {
  assert.equal(found(table('`test/access.test.ts`', 'words, `access.ts`, `http/auth`, `http/`, `http`, `npm run real-mcp`; `test/http/auth.test.ts`')), [])
})

test('finds rows without a test', () => {
  assert.equal(found(table('`access.ts`', '', '`test/access.test.ts`')), ['5 names no test that holds this promise', '6 names no test that holds this promise'])
})

test('finds tests that are not there, in any place, and such as have no path', () => {
  assert.equal(found(`${table('`test/access.test.ts`')} \`test/none.test.ts\` \`auth.test.ts\``), [
    '7 names a test that is not there: test/none.test.ts', '7 names a test that is not there: auth.test.ts',
  ])
  assert.equal(found(table('`test/access.test.ts`, `test/http`')), ['5 names a test that is not there: test/http'])
})

test('finds what is neither in src nor a script', () => {
  assert.equal(found(table('`test/access.test.ts` `http/none` `npm run none`')), [
    '5 names what is neither in src nor a script: http/none', '5 names what is neither in src nor a script: npm run none',
  ])
})

test('leaves other tables alone', () => {
  assert.equal(found('| held | a |\n|---|---|\n| `x` | `y` |'), [])
})

test.run()
