import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { classifyMessage } from '../../src/rpc/message.ts'

const test = suite('rpc/message')
const v = { jsonrpc: '2.0' }

const valid: [string, unknown, unknown][] = [
  ['a request with a number id', { ...v, id: 7, method: 'm', params: { a: 1 } },
    { kind: 'request', id: 7, method: 'm', params: { a: 1 } }],
  ['a request with id 0', { ...v, id: 0, method: 'm' }, { kind: 'request', id: 0, method: 'm', params: undefined }],
  ['a request with an empty string id', { ...v, id: '', method: 'm' },
    { kind: 'request', id: '', method: 'm', params: undefined }],
  ['a request with id null', { ...v, id: null, method: 'm' },
    { kind: 'request', id: null, method: 'm', params: undefined }],
  ['a request with params in an array', { ...v, id: 'a', method: 'm', params: [1] },
    { kind: 'request', id: 'a', method: 'm', params: [1] }],
  ['a notification', { ...v, method: 'm', params: { a: 1 } }, { kind: 'notification', method: 'm', params: { a: 1 } }],
  ['a notification whose params are null, as without params', { ...v, method: 'm', params: null },
    { kind: 'notification', method: 'm', params: undefined }],
  ['a result', { ...v, id: 0, result: { a: 1 } }, { kind: 'result', id: 0, result: { a: 1 } }],
  ['a result of null', { ...v, id: 1, result: null }, { kind: 'result', id: 1, result: null }],
  ['a result of false', { ...v, id: 1, result: false }, { kind: 'result', id: 1, result: false }],
  ['a result beside an error of null', { ...v, id: 1, result: 5, error: null }, { kind: 'result', id: 1, result: 5 }],
  ['a null result beside an error of null', { ...v, id: 1, result: null, error: null },
    { kind: 'result', id: 1, result: null }],
  ['an error of null alone as a null result', { ...v, id: 1, error: null }, { kind: 'result', id: 1, result: null }],
  ['an error', { ...v, id: 1, error: { code: -32000, message: 'x', data: [] } },
    { kind: 'error', id: 1, error: { code: -32000, message: 'x', data: [] } }],
  ['an error beside a result of null', { ...v, id: 1, result: null, error: { code: 1, message: '' } },
    { kind: 'error', id: 1, error: { code: 1, message: '' } }],
  ['an error with id null', { ...v, id: null, error: { code: -32700, message: 'p' } },
    { kind: 'error', id: null, error: { code: -32700, message: 'p' } }],
]

for (const [name, value, expected] of valid) {
  test(`reads ${name}`, () => assert.equal(classifyMessage(value), expected))
}

const broken: [string, unknown, string, boolean, unknown][] = [
  ['an array', [{ ...v, method: 'm' }], 'batch', false, undefined],
  ['a number', 5, 'not_an_object', false, undefined],
  ['null', null, 'not_an_object', false, undefined],
  ['a missing version', { id: 1, method: 'm' }, 'version', true, 1],
  ['a version that is a number', { jsonrpc: 2, id: 'x', result: 1 }, 'version', false, 'x'],
  ['an id that is an object', { ...v, id: {}, method: 'm' }, 'id_type', true, undefined],
  ['an id that is a boolean', { ...v, id: true, result: 1 }, 'id_type', false, undefined],
  ['a method that is no string', { ...v, id: 3, method: null }, 'method_type', true, 3],
  ['params that are a string', { ...v, id: 3, method: 'm', params: 'p' }, 'params_type', true, 3],
  ['an answer without an id', { ...v, result: 1 }, 'id_missing', false, undefined],
  ['a result beside an error', { ...v, id: 4, result: 1, error: { code: 1, message: 'm' } }, 'result_and_error', false,
    4],
  ['an error that is a string', { ...v, id: 5, error: 'broken' }, 'error_shape', false, 5],
  ['an error without a code', { ...v, id: 5, error: { message: 'm' } }, 'error_shape', false, 5],
  ['an error without a message', { ...v, id: 5, error: { code: 1 } }, 'error_shape', false, 5],
  ['an object that is neither call nor answer', { ...v, id: null }, 'not_a_message', false, null],
]

for (const [name, value, rule, calls, id] of broken) {
  test(`names the rule that ${name} breaks: ${rule}`, () => {
    assert.equal(classifyMessage(value), { kind: 'invalid', rule, calls, id })
  })
}

test.run()
