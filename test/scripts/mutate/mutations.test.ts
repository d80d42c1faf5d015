/**
 * The mutations as data: each applies to the source as it is. The author of a change to such a line learns here which
 * promise depends on it.
 */
import * as assert from 'uvu/assert'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { mutationSets } from '../../../scripts/mutate/mutations/all.ts'
import { applyEdit, type Mutation } from '../../../scripts/mutate/mutation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/mutate/mutations')
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const all: readonly Mutation[] = mutationSets.flatMap(({ mutations }) => mutations)

test('there are at least 100, in every folder that promises something', () => {
  assert.ok(all.length >= 100, String(all.length))
  for (const { folder, mutations } of mutationSets) assert.ok(mutations.length > 0, folder)
})

test('the old text of each stands once in its file', () => {
  const stale = all.flatMap((mutation) => {
    const edit = applyEdit(readFileSync(join(root, mutation.file), 'utf8'), mutation)
    return edit.ok ? [] : [`${mutation.file}: "${mutation.promise}": ${edit.reason}: ${mutation.old}`]
  })
  const advice = 'These lines hold promises that npm run mutate breaks. Write their mutations anew in ' +
    'scripts/mutate/mutations:'
  assert.ok(stale.length === 0, [advice, ...stale].join('\n'))
})

test('each changes something of src, and no two do the same', () => {
  for (const mutation of all) {
    assert.match(mutation.file, /^src\/.+\.ts$/)
    assert.is.not(mutation.old, mutation.new, mutation.promise)
  }
  assert.is(new Set(all.map(({ file, old, new: text }) => JSON.stringify([file, old, text]))).size, all.length)
})

test('each promise is a sentence, and each test file is there', () => {
  for (const { promise, tests } of all) {
    assert.match(promise, /^\S.*\.$/)
    assert.ok(tests.length > 0, promise)
    assert.is(new Set(tests).size, tests.length, promise)
    for (const path of tests) {
      assert.ok(/^test\/.+\.test\.ts$/.test(path) && existsSync(join(root, path)), `${promise}: ${path}`)
    }
  }
})

test.run()
