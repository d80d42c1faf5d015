/**
 * When a mutation counts as noticed: after a failed assertion at once, after any other failure only when the same test
 * passes without the mutation.
 */
import * as assert from 'uvu/assert'
import type { Mutation } from '../../../scripts/mutate/mutation.ts'
import { applyEdit, selectMutations } from '../../../scripts/mutate/mutation.ts'
import { printFolders, printTried } from '../../../scripts/mutate/table.ts'
import { testEndOf, type TestEnd } from '../../../scripts/mutate/test-end.ts'
import { tryMutation, type TrialTree } from '../../../scripts/mutate/trial.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/mutate/trial')

const mutation: Mutation = {
  file: 'src/a.ts', old: '1', new: '2', promise: 'One is one.', tests: ['test/a.test.ts', 'test/b.test.ts'],
}

type Outcome = TestEnd['outcome']
const endOf = (outcome: Outcome): TestEnd => ({ outcome, detail: outcome, ms: 1 })

interface Run {
  readonly verdict: string
  readonly detail: string
  /** The calls that the trees got, in order. */
  readonly asked: readonly string[]
}

async function tried(
  mutated: readonly Outcome[], control: readonly Outcome[] = [], tree: Partial<TrialTree> = {},
): Promise<Run> {
  const asked: string[] = []
  const script = (name: string, outcomes: readonly Outcome[]) => {
    const left = [...outcomes]
    return async (file: string): Promise<TestEnd> => {
      asked.push(`${name} ${file}`)
      return endOf(left.shift() ?? 'passed')
    }
  }
  const whole: TrialTree = {
    mutate: () => undefined, build: async () => undefined, test: script('mutated', mutated), ...tree,
  }
  const { verdict, detail } = await tryMutation(mutation, {
    mutated: whole, control: { test: script('control', control) }, limitMs: () => 1,
  })
  return { verdict, detail, asked }
}

test('a failed assertion kills, and no further test runs', async () => {
  const { verdict, asked } = await tried(['asserted'])
  assert.equal([verdict, asked], ['killed', ['mutated test/a.test.ts']])
})

test('what every named test passes has survived', async () => {
  const { verdict, asked } = await tried(['passed', 'passed'])
  assert.equal([verdict, asked], ['survived', ['mutated test/a.test.ts', 'mutated test/b.test.ts']])
})

test('any other failure kills when the control passes', async () => {
  const { verdict, asked } = await tried(['failed'])
  assert.equal([verdict, asked], ['killed', ['mutated test/a.test.ts', 'control test/a.test.ts']])
})

test('a test that fails without the mutation as well is asked again, and decides nothing in the end', async () => {
  assert.is((await tried(['failed', 'failed'], ['failed'])).verdict, 'killed')
  assert.is((await tried(['failed', 'passed'], ['failed'])).verdict, 'survived')
  const { verdict, detail, asked } = await tried(['failed', 'failed', 'failed'], ['failed', 'failed', 'failed'])
  assert.is(verdict, 'in doubt')
  assert.match(detail, 'test/a.test.ts fails without the mutation as well')
  assert.is(asked.at(-1), 'mutated test/b.test.ts')
  assert.is((await tried(['failed', 'failed', 'failed', 'asserted'], ['failed', 'failed', 'failed'])).verdict, 'killed')
})

test('an edit that does not apply or does not compile is told as that, and nothing runs', async () => {
  const stale = await tried([], [], { mutate: () => 'its old text is not in the file' })
  assert.equal([stale.verdict, stale.detail, stale.asked], ['not applicable', 'its old text is not in the file', []])
  const broken = await tried([], [], { build: async () => 'src/a.ts(1,1): error TS1005' })
  assert.equal([broken.verdict, broken.detail, broken.asked], ['does not compile', 'src/a.ts(1,1): error TS1005', []])
})

test('an edit applies where its old text stands once', () => {
  assert.equal(applyEdit('a $1 b', { old: '$1', new: '$&' }), { ok: true, text: 'a $& b' })
  assert.equal(applyEdit('a', { old: 'b', new: 'c' }), { ok: false, reason: 'its old text is not in the file' })
  assert.equal(applyEdit('aba', { old: 'a', new: 'c' }), {
    ok: false, reason: 'its old text stands more than once in the file',
  })
  assert.equal(applyEdit('aaa', { old: 'aa', new: 'c' }), {
    ok: false, reason: 'its old text stands more than once in the file',
  })
})

const program = { isLate: false, ms: 5 }

test('the end of a test file is told from its exit code and its words', () => {
  const outcome = (end: Parameters<typeof testEndOf>[0]): unknown => {
    const { outcome: what, detail } = testEndOf(end)
    return [what, detail]
  }
  const color = String.fromCodePoint(27)
  assert.equal(
    outcome({ ...program, code: 0, output: `  Total:     2${color}[32m\n  Passed:    2${color}[39m\n` }),
    ['passed', ''],
  )
  assert.equal(outcome({ ...program, code: 0, output: '  Total:     0\n  Passed:    0\n' }), [
    'failed', 'no test passed',
  ])
  assert.equal(outcome({ ...program, code: 1, output: '• \nfirst failure (assertion): a: b: c\n' }), [
    'asserted', 'a: b: c',
  ])
  assert.equal(
    outcome({ ...program, code: 1, output: 'first failure (other): a: Error: not done after 1 ms\n' }),
    ['failed', 'a: Error: not done after 1 ms'],
  )
  assert.equal(outcome({ ...program, code: null, output: 'x\ny\n' }), ['failed', 'ended with a signal: y'])
  assert.equal(outcome({ ...program, code: null, output: '', isLate: true }), ['failed', 'still running after 5 ms'])
})

test('the word chooses by file, promise and tests; the table counts by folder', () => {
  const sets = [
    { folder: 'a', mutations: [mutation] }, { folder: 'b', mutations: [{ ...mutation, file: 'src/b.ts', tests: [] }] },
  ]
  assert.equal(selectMutations(sets, 'src/b').map(({ folder }) => folder), ['b'])
  assert.equal(selectMutations(sets, 'One is').length, 2)
  assert.equal(selectMutations(sets, 'b.test').map(({ folder }) => folder), ['a'])
  const killed = { folder: 'a', mutation, outcome: { verdict: 'killed', detail: 'd', ms: 1500 } } as const
  const survived = { ...killed, outcome: { verdict: 'survived', detail: 'test/a.test.ts', ms: 500 } } as const
  assert.equal(printFolders([killed, survived]).slice(1).map((line) => line.split(/\s+/)), [
    ['a', '2', '1', '2.0'], ['all', '2', '1', '2.0'],
  ])
  assert.is(printTried(killed, '[1/2]'), '[1/2] killed    src/a.ts: One is one. (1.5 s)')
  assert.match(printTried(survived, '[2/2]'), 'test/a.test.ts\n    1')
})

test.run()
