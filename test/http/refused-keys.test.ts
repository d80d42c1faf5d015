/** How refused keys are counted and told. */
import * as assert from 'uvu/assert'
import { createLog, silentLog } from '../../src/base/log.ts'
import { RefusedKeys } from '../../src/http/refused-keys.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/refused-keys')

function told(work: (add: (address: string | undefined) => void) => void): unknown[][] {
  const lines: string[] = []
  const keys = new RefusedKeys(
    createLog({ write: (line) => lines.push(line), level: 'info', clock: () => 0, mask: (line) => line }), () => 0,
  )
  work((address) => keys.refuse(address, () => undefined)())
  return lines.map((line) => JSON.parse(line)).map(({ address, count }) => [address, count])
}

test('tells powers of two of each address', () => {
  const lines = told((add) => {
    for (let count = 0; count < 1_000_000; count++) add('10.0.0.1')
    add('10.0.0.2')
    add(undefined)
  })
  assert.equal(lines.slice(0, 4), [1, 2, 4, 8].map((count) => ['10.0.0.1', count]))
  assert.is(lines.length, 20 + 2)
  assert.equal(lines.slice(-2), [['10.0.0.2', 1], ['unknown', 1]])
})

test('forgets the addresses that were not seen for longest', () => {
  const lines = told((add) => {
    add('kept')
    add('lost')
    for (let index = 0; index < 999; index++) {
      add(`other ${index}`)
      if (index === 500) add('kept')
    }
    add('kept')
    add('kept')
    add('lost')
  })
  assert.equal(lines.filter(([address]) => address === 'kept').map(([, count]) => count), [1, 2, 4])
  assert.equal(lines.filter(([address]) => address === 'lost').map(([, count]) => count), [1, 1])
})

test('the log names the refused thing', () => {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line)
  const keys = new RefusedKeys(createLog({ write, level: 'info', clock: () => 0, mask: (line) => line }), () => 0)
  keys.refuse('a', () => undefined)
  keys.refuse('b', () => undefined, 'The key of an init')
  keys.refuse('c', () => undefined, 'A code of the console')
  assert.equal(lines.map((line) => JSON.parse(line).message), [
    'A session key was refused', 'The key of an init was refused', 'A code of the console was refused',
  ])
})

test('answers at once at first, then later, and at once again after a quiet minute', () => {
  let now = 0
  const keys = new RefusedKeys(silentLog, () => now)
  let answers = 0
  const refuse = (address = 'a'): boolean => {
    const before = answers
    keys.refuse(address, () => answers++)()
    return answers > before
  }
  assert.equal(Array.from({ length: 12 }, () => refuse()), [...Array.from({ length: 10 }, () => true), false, false])
  assert.is(refuse('b'), true)
  now += 60_001
  assert.is(refuse(), true)
})

test('a refusal that nobody waits for any more is not answered', async () => {
  const keys = new RefusedKeys(silentLog, () => 0)
  const answers: string[] = []
  for (let count = 0; count < 10; count++) keys.refuse('a', () => undefined)
  keys.refuse('a', () => answers.push('dropped'))()
  await new Promise<void>((resolve) => {
    keys.refuse('a', () => {
      answers.push('answered')
      resolve()
    })
  })
  assert.equal(answers, ['answered'])
})

test.run()
