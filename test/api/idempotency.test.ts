import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import type { Call } from '../../src/api/call.ts'
import { keyedRequestOf } from '../../src/api/idempotency.ts'
import { AppError } from '../../src/base/errors.ts'
import { owner } from '../../src/api/permission.ts'
import { createExchange } from '../../src/http/reply.ts'
import { suite } from '../support/suite.ts'

const test = suite('api/idempotency')
const parts = { clock: () => 1000, fingerprint: (text: string) => `of ${text}` }

function callOf(keys: readonly string[], rest: Partial<Call> = {}): Call {
  const request = new IncomingMessage(new Socket())
  request.rawHeaders = keys.flatMap((key) => ['idempotency-Key', key])
  return {
    exchange: createExchange(request, new ServerResponse(request), () => 'id'), principal: owner, parameters: {},
    query: '', body: undefined, ...rest,
  }
}

function failureOf(call: Call): unknown {
  try {
    keyedRequestOf(call, 'run', parts)
  } catch (thrown) {
    return thrown instanceof AppError ? [thrown.code, thrown.issues[0]?.loc] : thrown
  }
  return 'taken'
}

test('a request without the header has no key', () => {
  assert.is(keyedRequestOf(callOf([]), 'run', parts), undefined)
})

test('the digest is of the name, the query and the body', () => {
  const call = callOf(['a-key'], { query: 'a=1', body: { b: 2 } })
  assert.equal(keyedRequestOf(call, 'run', parts), { key: 'a-key', digest: 'of ["run","a=1",{"b":2}]', at: 1000 })
  assert.is(keyedRequestOf(callOf(['a-key']), 'run', parts)?.digest, 'of ["run","",null]')
})

test('a key has 1 to 128 visible characters, and there is one', () => {
  assert.is(failureOf(callOf(['x'.repeat(128)])), 'taken')
  assert.is(failureOf(callOf(['"8e03978e-40d5-43dd-bc93-6894a57f9324"'])), 'taken')
  const refused = ['invalid_input', ['header', 'Idempotency-Key']]
  for (const keys of [['x'.repeat(129)], [''], ['a b'], ['\u00e9'], ['a', 'a']]) {
    assert.equal(failureOf(callOf(keys)), refused, keys.join())
  }
})

test.run()
