/** Budgets of lines for the core and for each part. */
import * as assert from 'uvu/assert'
import { lineBudgets } from '../../../scripts/shape/architecture.ts'
import { checkSizes, sizesOf } from '../../../scripts/shape/sizes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/sizes')

test('counts the core and each part, without generated code', () => {
  const files = [
    { path: 'src/app.ts', lineCount: 10 }, { path: 'src/parts/demo/part.ts', lineCount: 5 },
    { path: 'src/parts/demo/main.ts', lineCount: 2 },
    { path: 'src/schema/generated/api.ts', lineCount: 1000 }, { path: 'test/app.test.ts', lineCount: 1000 },
  ]
  assert.equal(sizesOf(files).map(({ unit, files: count, lines }) => [unit, count, lines]), [
    ['core', 1, 10], ['demo', 2, 7],
  ])
  assert.equal(sizesOf(files).map(({ powerful, powerfulLines }) => [powerful, powerfulLines]), [[1, 10], [1, 2]])
})

test('finds a unit that is larger than its budget, and one that has none', () => {
  const { core = 0 } = lineBudgets
  const of = (path: string, lineCount: number): string[] =>
    checkSizes([{ path, lineCount }]).map(({ message }) => message.split(':')[0] ?? '')
  assert.equal(of('src/a.ts', core), [])
  assert.equal(of('src/a.ts', core + 1), [`"core" has ${core + 1} lines, more than its budget of ${core}`])
  assert.equal(of('src/parts/new/part.ts', 1), ['"new" has no budget of lines'])
})

test.run()
