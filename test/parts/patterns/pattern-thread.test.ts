import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { messageOf } from '../../../src/base/errors.ts'
import { PatternThread, type PatternThreadOptions } from '../../../src/parts/patterns/pattern-thread.ts'

const test = suite('parts/patterns/pattern-thread')
const hostile = { source: '(a+)+$', flags: '' }
const hostileText = `${'a'.repeat(60)}b`

async function withThread(
  options: Partial<PatternThreadOptions>, body: (thread: PatternThread) => Promise<void>,
): Promise<void> {
  const thread = await PatternThread.start({
    source: 'x', flags: '', timeoutMs: 60_000, signal: new AbortController().signal, ...options,
  })
  try {
    await body(thread)
  } finally {
    await thread.close()
  }
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'it did not fail', messageOf)
}

test('an expression is tried on texts and on bytes, one after the other', async () => {
  await withThread({ source: '^grüße$', flags: 'im' }, async (thread) => {
    assert.is(await thread.test('a\nGRÜSSE\ngrüße'), true)
    assert.is(await thread.test(Buffer.from('a\nGrüße')), true)
    assert.is(await thread.test('x'), false)
  })
})

test('an expression that takes for ever is ended at its time', async () => {
  await withThread({ ...hostile, timeoutMs: 200 }, async (thread) => {
    assert.match(await failure(thread.test(hostileText)), /it takes too long/)
  })
})

test('an expression that takes for ever is ended when it is stopped', async () => {
  const controller = new AbortController()
  await withThread({ ...hostile, signal: controller.signal }, async (thread) => {
    const answer = failure(thread.test(hostileText))
    controller.abort(new Error('stopped'))
    assert.is(await answer, 'stopped')
    assert.is(await failure(thread.test('x')), 'stopped')
  })
})

test('a thread that was stopped before it began does not begin', async () => {
  const signal = AbortSignal.abort(new Error('stopped'))
  assert.is(await failure(PatternThread.start({ ...hostile, timeoutMs: 1000, signal })), 'stopped')
})

test('what is no expression is refused with the reason', async () => {
  for (const [source, flags] of [['(', ''], ['a', 'k']] as const) {
    const started = PatternThread.start({ source, flags, timeoutMs: 1000, signal: new AbortController().signal })
    assert.match(await failure(started), /^Cannot use the regular expression: Invalid /)
  }
})


test('it may be closed twice', async () => {
  const thread = await PatternThread.start({
    source: 'x', flags: '', timeoutMs: 1000, signal: new AbortController().signal,
  })
  await thread.close()
  await thread.close()
})

test.run()
