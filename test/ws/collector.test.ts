import * as assert from 'uvu/assert'
import { Collector } from '../../src/ws/collector.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/collector')

test('gives what was appended, in order, and is empty afterwards', () => {
  const collector = new Collector()
  assert.is(collector.take().length, 0)
  for (const piece of ['one', '', 'two', 'x'.repeat(5000), 'end']) collector.append(Buffer.from(piece))
  assert.is(collector.length, 5009)
  assert.is(collector.take().toString(), `onetwo${'x'.repeat(5000)}end`)
  assert.is(collector.length, 0)
  collector.append(Buffer.from('again'))
  assert.is(collector.take().toString(), 'again')
})

test('keeps its own copy', () => {
  const collector = new Collector()
  const piece = Buffer.from('abc')
  collector.append(piece)
  piece.fill(0)
  assert.is(collector.take().toString(), 'abc')
})

test('holds at most twice what was appended', () => {
  const collector = new Collector()
  const byte = Buffer.from('x')
  for (let count = 0; count < 100_000; count++) collector.append(byte)
  assert.ok(collector.take().buffer.byteLength <= 200_000)
})

test.run()
