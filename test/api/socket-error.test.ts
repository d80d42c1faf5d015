import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { checkedFrame, frameErrorOf } from '../../src/api/socket-error.ts'
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

test('calls a text that is not JSON, or holds too many values, a JSONDecodeError', () => {
  for (const thrown of [new SyntaxError('at 3'), new RangeError('too many')]) {
    assert.equal(frameErrorOf(thrown, silentLog), { code: 'JSONDecodeError', detail: thrown.message })
  }
})

test('logs an unexpected error and does not show its text', () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', write: (line) => lines.push(line), mask: (text) => text, clock: () => 0 })
  const shown = frameErrorOf(new TypeError('the secret is x'), log)
  assert.equal(shown, { code: 'InternalError', detail: 'Unexpected error' })
  assert.is(lines.length, 1)
  assert.match(lines[0] ?? '', /the secret is x/)
})

test('returns a frame in its normal form, or names every issue', () => {
  assert.is(checkedFrame(ExecuteBashRequest, { command: 'ls' }).command, 'ls')
  assert.throws(() => checkedFrame(ExecuteBashRequest, { command: 1, timeout: 'x' }), (thrown: unknown) => {
    return thrown instanceof AppError && /command: .*; timeout: /.test(thrown.message)
  })
})

test.run()
