/** Repeated headers stay visible, and the grammar of a token. */
import * as assert from 'uvu/assert'
import { headerValues, isToken } from '../../src/http/headers.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/headers')

test('returns every value of a header in the order sent, whatever the case of its name', () => {
  const raw = ['Host', 'a', 'HOST', 'b', 'Accept', 'c', 'hosT', '']
  assert.equal(headerValues(raw, 'host'), ['a', 'b', ''])
  assert.equal(headerValues(raw, 'accept'), ['c'])
})

test('returns nothing for a header that was not sent', () => {
  assert.equal(headerValues([], 'host'), [])
  assert.equal(headerValues(['Most', 'a'], 'host'), [])
})

test('never takes a value for a name', () => {
  assert.equal(headerValues(['X', 'host', 'Y', 'b'], 'host'), [])
})

test('knows a token from other text', () => {
  for (const token of ['GET', 'x-session-api-key', "!#$%&'*+-.^_`|~09"]) assert.ok(isToken(token), token)
  for (const other of ['', 'a b', 'a,b', 'a\r\nb', 'é', 'a:b', '(a)']) assert.not.ok(isToken(other), other)
})

test.run()
