import * as assert from 'uvu/assert'
import { checkSecurityPromises } from '../../../scripts/shape/security-promises.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/security-promises')
const paths = new Set([
  'src/access.ts', 'src/http/auth.ts', 'scripts/real-mcp.ts', 'test/access.test.ts', 'test/http/auth.test.ts',
])
const table = (...cells: readonly string[]): string =>
  ['# S', '', '| a | held by |', '|---|---|', ...cells.map((cell) => `| x \`y\` | ${cell} |`), '', 'End'].join('\n')
const found = (text: string): string[] =>
  checkSecurityPromises(text, paths).map(({ line, message }) => `${line} ${message}`)

test('takes rows that name tests, files, folders and scripts that are there', () => {
  assert.equal(
    found(
      table(
        '`test/access.test.ts`',
        'words, `access.ts`, `http/auth`, `http/`, `http`, `npm run real-mcp`; `test/http/auth.test.ts`',
      ),
    ),
    [],
  )
})

test('finds rows without a test', () => {
  assert.equal(found(table('`access.ts`', '', '`test/access.test.ts`')), [
    '5 names no test that holds this promise', '6 names no test that holds this promise',
  ])
})

test('finds tests that are not there, in any place, and such as have no path', () => {
  assert.equal(found(`${table('`test/access.test.ts`')} \`test/none.test.ts\` \`auth.test.ts\``), [
    '7 names a test that is not there: test/none.test.ts', '7 names a test that is not there: auth.test.ts',
  ])
  assert.equal(found(table('`test/access.test.ts`, `test/http`')), ['5 names a test that is not there: test/http'])
})

test('finds what is neither in src nor a script', () => {
  assert.equal(found(table('`test/access.test.ts` `http/none` `npm run none`')), [
    '5 names what is neither in src nor a script: http/none',
    '5 names what is neither in src nor a script: npm run none',
  ])
})

const section = (held: string): string => `### A client's \`x\`\n\nIt waits.\n\n${held}\n`

test('reads paragraphs that begin with "Held by:", over several lines', () => {
  assert.equal(found(section('Held by: `access.ts`,\n`test/access.test.ts`')), [])
  assert.equal(found(section('Held by: `access.ts`')), ['5 names no test that holds this promise'])
  assert.equal(found(section('Held by: `none.ts`,\n`test/access.test.ts`')), [
    '5 names what is neither in src nor a script: none.ts',
  ])
})

test('wants of each attacker a short promise and a section that says what holds it', () => {
  const attackers = (promise: string, anchor: string): string =>
    `| Attacker | Promise |\n|---|---|\n| [A client](#${anchor}) | ${promise} |\n\n` +
      `${section('Held by: `test/access.test.ts`')}`
  assert.equal(found(attackers('waits', 'a-clients-x')), [])
  assert.equal(found(attackers('w'.repeat(361), 'a-clients-x')), ['3 has a promise of more than 360 characters'])
  assert.equal(found(attackers('waits', 'a-client')), ['3 leads to a section without "Held by:": a-client'])
})

test('leaves other tables alone', () => {
  assert.equal(found('| held | a |\n|---|---|\n| `x` | `y` |'), [])
})

test.run()
