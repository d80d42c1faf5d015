import * as assert from 'uvu/assert'
import { member } from '../support/rest.ts'
import { suite } from '../support/suite.ts'
import { checkedFrame, frameErrorOf, parseFrame } from '../../src/api/socket-error.ts'
import { AppError } from '../../src/base/errors.ts'
import { createLog, silentLog } from '../../src/base/log.ts'
import { ExecuteBashRequest } from '../../src/parts/bash/generated.ts'

const test = suite('api/socket-error')

test('shows an error of this server with its code, which is ValidationError for a frame that does not fit', () => {
  const busy = frameErrorOf(new AppError('unavailable', 'Too many'), silentLog)
  assert.equal(busy, { code: 'unavailable', detail: 'Too many' })
  const wrong = frameErrorOf(new AppError('invalid_input', 'a: b'), silentLog)
  assert.equal(wrong, { code: 'ValidationError', detail: 'a: b' })
})

test('calls a text that is not JSON, or holds too many values, a JSONDecodeError', async () => {
  const problemOf = async (text: string): Promise<unknown> => {
    return parseFrame(text, 3).then(() => undefined, (thrown: unknown) => frameErrorOf(thrown, silentLog))
  }
  assert.is(member(await problemOf('{"a":'), 'code'), 'JSONDecodeError')
  assert.equal(await problemOf('[1,2,3,4]'), { code: 'JSONDecodeError', detail: 'JSON holds more than 3 values' })
  assert.equal(await parseFrame('[1]', 3), [1])
})

test('logs an unexpected error and does not show its text', () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', write: (line) => lines.push(line), mask: (text) => text, clock: () => 0 })
  for (const thrown of [TypeError, RangeError, SyntaxError].map((Kind) => new Kind('the secret is x'))) {
    assert.equal(frameErrorOf(thrown, log), { code: 'InternalError', detail: 'Unexpected error' })
    assert.match(lines.pop() ?? '', /the secret is x/)
  }
})

test('returns a frame in its normal form, or names every issue', () => {
  assert.is(checkedFrame(ExecuteBashRequest, { command: 'ls' }).command, 'ls')
  assert.throws(() => checkedFrame(ExecuteBashRequest, { command: 1, timeout: 'x' }), (thrown: unknown) => {
    return thrown instanceof AppError && /command: .*; timeout: /.test(thrown.message)
  })
})

test.run()
