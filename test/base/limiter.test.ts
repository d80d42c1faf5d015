import * as assert from 'uvu/assert'
import { Limiter } from '../../src/base/limiter.ts'
import { deferred, type Deferred } from '../../src/base/wait.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/limiter')

test('so many pieces of work go on at once, the others in the order in which they came', async () => {
  const limiter = new Limiter(2)
  const begun: number[] = []
  const ends: Deferred<void>[] = []
  const all = [0, 1, 2, 3].map((number) => limiter.run(() => {
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
  const limiter = new Limiter(1)
  let loops = 0
  let isOver = false
  const count = (): void => {
    loops++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 100 }, () => limiter.run(() => Promise.resolve())))
  isOver = true
  assert.ok(loops >= 99, `${loops} turns of the loop`)
})

test('a task that fails makes room for the next task', async () => {
  const limiter = new Limiter(1)
  const failing = limiter.run(() => Promise.reject(new Error('No'))).catch((error: unknown) => String(error))
  assert.equal([await failing, await limiter.run(async () => 'done')], ['Error: No', 'done'])
})

test.run()
