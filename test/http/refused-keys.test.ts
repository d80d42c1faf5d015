/** How refused keys are counted and told. */
import * as assert from 'uvu/assert'
import { createLog } from '../../src/base/log.ts'
import { RefusedKeys } from '../../src/http/refused-keys.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/refused-keys')

function told(work: (keys: RefusedKeys) => void): unknown[][] {
  const lines: string[] = []
  work(new RefusedKeys(createLog({ write: (line) => lines.push(line), level: 'info', clock: () => 0, mask: (line) => line })))
  return lines.map((line) => JSON.parse(line)).map(({ address, count }) => [address, count])
}

test('tells powers of two of each address', () => {
  const lines = told((keys) => {
    for (let count = 0; count < 1_000_000; count++) keys.add('10.0.0.1')
    keys.add('10.0.0.2')
    keys.add()
  })
  assert.equal(lines.slice(0, 4), [1, 2, 4, 8].map((count) => ['10.0.0.1', count]))
  assert.is(lines.length, 20 + 2)
  assert.equal(lines.slice(-2), [['10.0.0.2', 1], ['unknown', 1]])
})

test('forgets the addresses that were not seen for longest', () => {
  const lines = told((keys) => {
    keys.add('kept')
    keys.add('lost')
    for (let index = 0; index < 999; index++) {
      keys.add(`other ${index}`)
      if (index === 500) keys.add('kept')
    }
    keys.add('kept')
    keys.add('kept')
    keys.add('lost')
  })
  assert.equal(lines.filter(([address]) => address === 'kept').map(([, count]) => count), [1, 2, 4])
  assert.equal(lines.filter(([address]) => address === 'lost').map(([, count]) => count), [1, 1])
})

test.run()
