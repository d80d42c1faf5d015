import * as assert from 'uvu/assert'
import { checkBudgetCommits } from '../../../scripts/shape/budgets.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/budgets')

function commit(message: string, ...lines: readonly string[]): string {
  return `\0${'1234567890'.repeat(4)}\0${message}\n\0\n\ndiff --git a/a.ts b/a.ts\n@@ -1,2 +1,2 @@\n${lines.join('\n')}\n`
}

function found(...commits: readonly string[]): string[] {
  return checkBudgetCommits(commits.join('')).map(({ message }) => message.replace(/ without.*/, ''))
}

test('finds a commit that raises a budget and does not say so', () => {
  const raise = ['-  core: 40_170,', '+  core: 40_200,', "-  'sealing-keys': 370,", "+  'sealing-keys': 371,"]
  assert.equal(found(commit('ws: close', ...raise)), ['commit 12345678 raises core, sealing-keys'])
  assert.equal(found(commit('ws: close\n\nRaises the budget of the core.', ...raise)), [])
  assert.equal(found(commit('ws: Budget', ...raise), commit('ws: close', ...raise)).length, 1)
})

test('passes a lower budget, a new one, a line that moves, and another number of the file', () => {
  assert.equal(found(commit('ws: close', '-  core: 40_170,', '+  core: 40_000,')), [])
  assert.equal(found(commit('ws: close', '+  docs: 200,')), [])
  assert.equal(found(commit('ws: close', '-  docs: 200,', '   bash: 780,', '+  docs: 200,')), [])
  assert.equal(found(commit('ws: close', '-  columns: 120,', '+  columns: 121,')), [])
  assert.equal(found(''), [])
})

test.run()
