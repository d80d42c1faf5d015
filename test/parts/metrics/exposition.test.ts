/** The text format: a strict reader reads the written text back, and refuses text that is not in the format. */
import * as assert from 'uvu/assert'
import { counter, formatFamilies, gauge } from '../../../src/parts/metrics/exposition.ts'
import { Histogram } from '../../../src/parts/metrics/histogram.ts'
import { readMetrics, valueOf } from '../../support/prometheus-text.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/metrics/exposition')

test('texts with quotes, backslashes and line ends are read back as they were', () => {
  const hard = 'a"b\\c\nd\\n{}=,é'
  const text = formatFamilies([
    counter('words_total', `Help "of" ${hard}`, [{ labels: { word: hard, other: '' }, value: 2 }]),
    gauge('empty', 'Without a sample', []),
  ])
  const families = readMetrics(text)
  assert.is(valueOf(families, 'words_total', { other: '', word: hard }), 2)
  assert.is(families.get('words_total')?.help, `Help "of" ${hard}`)
  assert.equal(families.get('empty')?.samples, [])
})

test('numbers are read back exactly', () => {
  for (const value of [0, 1, 0.1, 1e-7, 1e21, 123_456_789_012, Number.MAX_VALUE, Infinity]) {
    assert.is(valueOf(readMetrics(formatFamilies([gauge('a', 'A', [{ value }])])), 'a'), value)
  }
  assert.match(formatFamilies([gauge('a', 'A', [{ value: NaN }, { value: -Infinity }])]), 'a NaN\na -Inf\n')
})

test('a histogram counts a value on a bound below it, and every value in the last bucket', () => {
  const histogram = new Histogram([0.1, 1])
  for (const value of [0, 0.1, 0.11, 1, 1.5, 1000]) histogram.add(value)
  const family = { name: 'h', type: 'histogram', help: 'H', samples: histogram.samples({ route: '/a' }) } as const
  const families = readMetrics(formatFamilies([family]))
  const below = (le: string): number | undefined => valueOf(families, 'h_bucket', { route: '/a', le })
  assert.equal([below('0.1'), below('1'), below('+Inf')], [2, 4, 6])
  assert.is(valueOf(families, 'h_count', { route: '/a' }), 6)
  assert.is(valueOf(families, 'h_sum', { route: '/a' }), 0 + 0.1 + 0.11 + 1 + 1.5 + 1000)
})

test('the strict reader refuses what is not the format', () => {
  const head = '# HELP a_total A\n# TYPE a_total counter\n'
  const histogram = '# HELP h H\n# TYPE h histogram\n'
  assert.is(readMetrics(`${head}a_total{b="c"} 1\n`).size, 1)
  for (const text of [
    `${head}a_total 1`, `${head}a_total 1\n\n`, `${head}a_total  1\n`, `${head}a_total{b="c",} 1\n`,
    `${head}a_total{b='c'} 1\n`, `${head}a_total{b="\\t"} 1\n`, `${head}a_total 1\na_total 2\n`, `${head}b_total 1\n`,
    `${head}a_total -1\n`, `${head}a_total 1e\n`, `${head}${head}`, '# TYPE a_total counter\na_total 1\n', 'a 1\n',
    '# HELP a A\n# TYPE a counter\na 1\n', `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
    `${histogram}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`,
  ]) {
    assert.throws(() => readMetrics(text), undefined, JSON.stringify(text))
  }
})

test.run()
