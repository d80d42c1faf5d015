/** The generated regions of documents. */
import * as assert from 'uvu/assert'
import { fillRegions } from '../../../scripts/documents/regions.ts'
import { readingOrder } from '../../../scripts/documents/reading-order.ts'
import { tablesFor } from '../../../scripts/documents/tables.ts'
import type { SizedFile } from '../../../scripts/shape/sizes.ts'
import { allParts } from '../../../src/all-parts.ts'
import { suite } from '../../support/suite.ts'

const test = suite('documents/regions')

const text = 'Before\n<!-- generated: a -->\nold\nrows\n<!-- /generated -->\nafter\n<!-- generated: b -->\n' +
  '<!-- /generated -->\n'
const filled = 'Before\n<!-- generated: a -->\none\n<!-- /generated -->\nafter\n<!-- generated: b -->\ntwo\n' +
  '<!-- /generated -->\n'
const tables = { a: () => 'one', b: () => 'two' }

test('fills each region and keeps the rest', () => {
  assert.is(fillRegions('x.md', text, tables), filled)
  assert.is(fillRegions('x.md', filled, tables), filled)
})

test('refuses an unknown region and a mark without its other', () => {
  assert.throws(() => fillRegions('x.md', text, { a: () => '' }), /x\.md: there is no table "b"/)
  assert.throws(
    () => fillRegions('x.md', text.replace('<!-- /generated -->\n', ''), tables),
    /a mark of a generated region has no other/,
  )
  assert.throws(
    () => fillRegions('x.md', `${text}<!-- generated: c -->`, tables), /a mark of a generated region has no other/,
  )
})

test('gives a part its own options, routes and powers', () => {
  for (const part of allParts) {
    const { options, routes, powers } = tablesFor(`src/parts/${part.name}/README.md`, [])
    for (const route of Object.keys(part.routes ?? {})) assert.ok(routes?.().includes(`| \`${route}\` | `), route)
    assert.is(options?.().includes('| `--'), part.options !== undefined)
    assert.not.ok(powers?.().includes('`src/'), 'paths are relative to the part')
  }
  const root = tablesFor('SECURITY.md', [])['powers']?.() ?? ''
  assert.match(root, '| Start and end programs | `src/parts/demo/command.ts`, ')
})

test('has each file of the core in one step of the reading order', () => {
  const file = (path: string): SizedFile => ({ path, lineCount: 10 })
  const read = (...paths: string[]): number[] =>
    readingOrder(paths.map(file)).map(({ lines }) => lines).filter((lines) => lines > 0)
  assert.equal(read('src/config.ts', 'src/app.ts', 'src/cli/main.ts', 'src/http/auth.ts'), [10, 10, 20])
  assert.equal(read('src/parts/demo/part.ts', 'src/schema/generated/api.ts'), [])
  assert.throws(() => read('src/elsewhere/a.ts'), /src\/elsewhere\/a\.ts: no step of the reading order has this file/)
})

test.run()
