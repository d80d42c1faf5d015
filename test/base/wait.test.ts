import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { andThen, deferred, sleep, untilAborted, within, runAll } from '../../src/base/wait.ts'

const test = suite('base/wait')
const stopped = new Error('stopped')

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (reason) {
    return reason
  }
  return 'no rejection'
}

test('sleep resolves by itself', async () => {
  await sleep(1)
})

test('sleep rejects with the reason of a signal that is aborted while it waits', async () => {
  const controller = new AbortController()
  const sleeping = sleep(60_000, controller.signal)
  controller.abort(stopped)
  assert.is(await reasonOf(sleeping), stopped)
})

test('sleep does not begin under an aborted signal', async () => {
  assert.is(await reasonOf(sleep(60_000, AbortSignal.abort(stopped))), stopped)
})

test('sleep takes its listener away when it is over', async () => {
  const controller = new AbortController()
  await sleep(1, controller.signal)
  controller.abort(stopped)
})

test('untilAborted gives the outcome of work that is faster than the abort', async () => {
  const { signal } = new AbortController()
  assert.is(await untilAborted(Promise.resolve(7), signal), 7)
  assert.is(await reasonOf(untilAborted(Promise.reject(stopped), signal)), stopped)
})

test('untilAborted rejects at the abort and ignores a later failure of the work', async () => {
  const controller = new AbortController()
  const work = deferred<number>()
  const waiting = untilAborted(work.promise, controller.signal)
  controller.abort(stopped)
  assert.is(await reasonOf(waiting), stopped)
  work.reject(new Error('too late to matter'))
})

test('untilAborted under an aborted signal swallows the failure of the work', async () => {
  assert.is(await reasonOf(untilAborted(Promise.reject(new Error('x')), AbortSignal.abort(stopped))), stopped)
})

test('andThen uses a value at once when it is there, and when it comes otherwise', async () => {
  const double = (value: number): number => value * 2
  assert.is(andThen(2, double), 4)
  const later = andThen(Promise.resolve(2), double)
  assert.instance(later, Promise)
  assert.is(await later, 4)
  assert.is(await reasonOf(Promise.resolve(andThen(Promise.reject(stopped), double))), stopped)
})

test('within gives the outcome in time, or the word late', async () => {
  assert.is(await within(Promise.resolve('done'), 60_000), 'done')
  assert.is(await within(new Promise(() => undefined), 1), 'late')
  assert.is(await reasonOf(within(Promise.reject(stopped), 60_000)), stopped)
})

test('steps run one after the other, also after a failed step, and the first error is thrown', async () => {
  const seen: number[] = []
  const step = (number: number, error?: Error) => async (): Promise<void> => {
    await sleep(1)
    seen.push(number)
    if (error !== undefined) throw error
  }
  await runAll([step(1), step(2)])
  const fault = await runAll([step(3), step(4, new Error('of 4')), step(5, new Error('of 5')), step(6)]).catch(String)
  assert.is(fault, 'Error: of 4')
  assert.equal(seen, [1, 2, 3, 4, 5, 6])
})

test.run()
