import * as assert from 'uvu/assert'
import { checkUnusedGrants, grantsBelow } from '../../../scripts/shape/boundaries.ts'
import { checkShape } from '../../../scripts/shape/rules.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/boundaries')

const files = [
  readSource('src/api/a.ts', "import { b } from '../base/b.ts'\nimport { c } from './c.ts'\n"),
  readSource('src/api/inner/d.ts', "export type { E } from '../../schema/inner/e.ts'\n"),
  readSource('src/base/b.ts', "export const b = 'of the base'\n"),
]

/** The findings for a table, each as the text from `lets` to the comma. */
function unused(table: Record<string, readonly string[]>): string[] {
  return checkUnusedGrants(files, table).map(({ message }) => /lets (.*?),/.exec(message)?.[1] ?? message)
}

test('finds a grant of the import table that no file of its row uses', () => {
  assert.equal(unused({ api: ['base', 'schema'], base: [], schema: [] }), [])
  assert.equal(unused({ api: ['base', 'schema', 'ws'], base: [], schema: [], ws: [] }), ['api import ws'])
  assert.equal(unused({ api: ['base', 'schema'], base: ['api'], schema: [] }), ['base import api'])
})

test('takes the import of a row inside of the granted one as a use', () => {
  assert.equal(unused({ api: ['base', 'schema'], base: [], schema: [], 'schema/inner': [] }), [])
})

test('asks the row that is nearest to the file, and takes an import within a row as no use', () => {
  const table = { api: ['base', 'schema', 'api'], 'api/inner': ['schema'], base: [], schema: [] }
  assert.equal(unused(table), ['api import schema', 'api import api'])
})

test('asks for the use of grants of a whole tree only', () => {
  const find = (isWhole: boolean): boolean => {
    const sources = new Map([['src/base/a.ts', '/** A file. */\nexport {}\n']])
    const findings = checkShape({ sources, security: undefined, isWhole })
    return findings.some(({ message }) => message.includes('lets index.ts'))
  }
  assert.equal([find(true), find(false)], [true, false])
})

test('joins the grants of a folder and of the rows inside it', () => {
  const table = { a: ['a/b', 'c', 'd'], 'a/b': ['a/e', 'c/f', 'd', 'g'], 'a/e': [], ab: ['h'] }
  assert.equal(grantsBelow('a', table), ['c', 'd', 'g'])
})

test.run()
