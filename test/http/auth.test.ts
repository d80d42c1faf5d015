/** Session keys, where they come from, and which are refused. */
import * as assert from 'uvu/assert'
import { createSessionKeys, maxKeyBytes, readHeaderCredential, readSocketCredential } from '../../src/http/auth.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/auth')

test('knows each of several keys and nothing else', () => {
  const keys = createSessionKeys(['alpha', 'beta!@# $%', 'é'])
  for (const key of ['alpha', 'beta!@# $%', 'é']) assert.ok(keys.has(key), key)
  for (const other of ['', 'Alpha', 'alph', 'alphaa', 'alpha\0', 'alpha ', 'alpha, beta', 'e', '\0\0']) {
    assert.not.ok(keys.has(other), other)
  }
})

test('remembers nothing of an earlier candidate', () => {
  const keys = createSessionKeys(['ab'])
  assert.not.ok(keys.has('abcdef'))
  assert.ok(keys.has('ab'))
  assert.not.ok(keys.has('a'))
  assert.ok(keys.has('ab'))
})

test('knows no key when there is none', () => {
  assert.not.ok(createSessionKeys([]).has(''))
  assert.not.ok(createSessionKeys([]).has('a'))
})

test('takes keys of up to 256 bytes and no longer candidate', () => {
  const longest = 'k'.repeat(maxKeyBytes)
  const keys = createSessionKeys([longest])
  assert.ok(keys.has(longest))
  assert.not.ok(keys.has(`${longest}k`))
  assert.not.ok(keys.has('é'.repeat(maxKeyBytes)))
  assert.throws(() => createSessionKeys([`${longest}k`]), RangeError)
  assert.throws(() => createSessionKeys(['']), RangeError)
})

test('reads the header whatever the case of its name', () => {
  assert.equal(readHeaderCredential(['x-SESSION-api-key', 'k']), { kind: 'given', key: 'k' })
  assert.equal(readHeaderCredential(['X-Session-API-Key', '']), { kind: 'given', key: '' })
  assert.equal(readHeaderCredential(['Authorization', 'k']), { kind: 'absent' })
})

test('refuses a header that was sent twice, even with the same value', () => {
  assert.equal(readHeaderCredential(['X-Session-API-Key', 'k', 'X-Session-API-Key', 'k']), { kind: 'ambiguous' })
})

test("lets a socket's query parameter decide alone, even empty", () => {
  const header = ['X-Session-API-Key', 'h']
  assert.equal(readSocketCredential(header, 'session_api_key=q%2B'), { kind: 'given', key: 'q+' })
  assert.equal(readSocketCredential(header, 'a=b&session_api_key='), { kind: 'given', key: '' })
  assert.equal(readSocketCredential(header, 'resend_mode=all'), { kind: 'given', key: 'h' })
  assert.equal(readSocketCredential([], ''), { kind: 'absent' })
  assert.equal(readSocketCredential([], 'session_api_key=k&session_api_key=k'), { kind: 'ambiguous' })
})

test.run()
