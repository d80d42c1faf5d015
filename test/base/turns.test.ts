import * as assert from 'uvu/assert'
import { Turns } from '../../src/base/turns.ts'
import { deferred, type Deferred } from '../../src/base/wait.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/turns')

test('so many pieces of work go on at once, the others in the order in which they came', async () => {
  const turns = new Turns(2)
  const begun: number[] = []
  const ends: Deferred<void>[] = []
  const all = [0, 1, 2, 3].map((number) => turns.run(() => {
    begun.push(number)
    const end = deferred<void>()
    ends[number] = end
    return end.promise
  }))
  assert.equal(begun, [0, 1])
  ends[1]?.resolve()
  await all[1]
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(begun, [0, 1, 2])
  ends[0]?.resolve()
  ends[2]?.resolve()
  await Promise.all([all[0], all[2]])
  await new Promise((resolve) => setImmediate(resolve))
  ends[3]?.resolve()
  await all[3]
  assert.equal(begun, [0, 1, 2, 3])
})

test('the event loop turns between those who wait, however fast they are', async () => {
  const turns = new Turns(1)
  let loops = 0
  let isOver = false
  const count = (): void => {
    loops++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 100 }, () => turns.run(() => Promise.resolve())))
  isOver = true
  assert.ok(loops >= 99, `${loops} turns of the loop`)
})

test('a piece that fails gives its turn back, and the next one has it', async () => {
  const turns = new Turns(1)
  const failing = turns.run(() => Promise.reject(new Error('No'))).catch((error: unknown) => String(error))
  assert.equal([await failing, await turns.run(async () => 'done')], ['Error: No', 'done'])
})

test.run()
