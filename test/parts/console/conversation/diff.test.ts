import * as assert from 'uvu/assert'
import { diffOf, pairsOf, type Diff } from '../../../../src/parts/console/page/conversation/diff.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: differences')

/** The new lines, made of the old ones and the hunks; throws where a hunk does not fit the old lines. */
function applied(old: readonly string[], { hunks }: Diff): readonly string[] {
  const lines: string[] = []
  let at = 0
  for (const row of hunks.flat()) {
    if (row.before !== undefined) {
      while (at < row.before - 1) lines.push(old[at++] ?? '')
      assert.is(old[at++], row.text)
    }
    if (row.kind !== 'removed') lines.push(row.text)
    if (row.after !== undefined) assert.is(row.after, lines.length)
  }
  return [...lines, ...old.slice(at)]
}

test('applied to the old text, a difference gives the new one', () => {
  let state = 3
  const next = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
  const lines = (): string[] => Array.from({ length: next(25) }, () => 'abc'[next(3)] ?? '')
  for (let round = 0; round < 5000; round++) {
    const [old, fresh] = [lines(), lines()]
    const text = (list: readonly string[]): string => list.map((line) => `${line}\n`).join('')
    assert.equal(applied(old, diffOf(text(old), text(fresh))), fresh)
  }
})

test('a difference is short: one changed line is one line', () => {
  const old = Array.from({ length: 500 }, (_, index) => `line ${index}`)
  const fresh = old.with(250, 'changed')
  const diff = diffOf(old.join('\n'), fresh.join('\n'))
  assert.equal([diff.added, diff.removed, diff.hunks.length, diff.hunks[0]?.length], [1, 1, 1, 8])
  const pair = pairsOf(diff.hunks[0] ?? []).find(({ left }) => left?.kind === 'removed')
  assert.equal([pair?.left?.text, pair?.right?.text], ['line 250', 'changed'])
})

test('texts that have nothing in common cost bounded work, and are shown as removed and added', () => {
  const lines = (word: string): string => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n')
  const diff = diffOf(lines('a'), lines('b'))
  assert.equal([diff.added, diff.removed], [20_000, 20_000])
})

test('nothing differs', () => {
  assert.equal(diffOf('a\nb\n', 'a\nb\n'), { hunks: [], added: 0, removed: 0 })
  assert.equal(diffOf('', '').hunks, [])
  assert.is(diffOf('', 'a\nb').added, 2)
})

test.run()
