import * as assert from 'uvu/assert'
import { isMet, type Row } from '../../../scripts/bench/gate.ts'
import { printMarkdown, printTable } from '../../../scripts/bench/table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/table')

const cost: Row = {
  what: 'reading', limit: 'bare', ratio: { low: 1.1, median: 1.2, high: 1.3 }, target: { atMost: 1.25 },
}
const speed: Row = { ...cost, what: 'writing a lot', target: { atLeast: 1.25 }, context: '3 ns' }

test('judges a cost and a speed by the median alone', () => {
  assert.is(isMet(cost), true)
  assert.is(isMet({ ...cost, target: { atMost: 1.1 } }), false)
  assert.is(isMet(speed), false)
  assert.is(isMet({ ...speed, target: { atLeast: 1.2 } }), true)
})

test('prints one line for each row in columns that line up', () => {
  const [titles = '', rule = '', first = '', second = '', ...rest] = printTable([cost, speed])
  assert.equal(rest, [])
  assert.match(rule, /^-+$/)
  assert.match(first, /^reading +bare +1\.20 +1\.10-1\.30 +<= 1\.25 +met$/)
  assert.match(second, /^writing a lot +bare +1\.20 +1\.10-1\.30 +>= 1\.25 +missed +3 ns$/)
  for (const line of [first, second]) assert.is(line.indexOf('1.20'), titles.indexOf('ratio'))
})

test('puts figures of peers behind ours in Markdown, and judges none of them', () => {
  const peer: Row = { ...cost, peer: 'other', ratio: { low: 10, median: 12.34, high: 13 } }
  assert.is(isMet(peer), undefined)
  const [titles, rule, ...rows] = printMarkdown([cost, peer, { ...speed, target: 'none' }])
  assert.is(titles, '| what | limit | ratio | quartiles | target |  | for size | peers |')
  assert.is(rule, '|---|---|---|---|---|---|---|---|')
  assert.equal(rows, [
    '| reading | bare | 1.20 | 1.10-1.30 | <= 1.25 | met |  | other 12.3 |',
    '| writing a lot | bare | 1.20 | 1.10-1.30 |  |  | 3 ns |  |',
  ])
  assert.match(printTable([peer])[2] ?? '', /^other: reading +bare +12\.3 +10\.0-13\.0$/)
})

test.run()
