import * as assert from 'uvu/assert'
import { isAuthText } from '../../../src/agents/acp/session/failure.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/acp/session/failure')

test('a status 401 or 403 and a later word of the same line tell of a refused login', () => {
  const refused = ['401 Unauthorized', 'HTTP 403: Forbidden', 'line\nstatus 401, an API key', '401 403 unauthorised']
  for (const text of refused) assert.ok(isAuthText(text), text)
  const others = ['Forbidden 403', '401\nForbidden', '401\rForbidden', '4010 forbidden', 'a401 forbidden', '401 lines']
  for (const text of others) assert.not(isAuthText(text), text)
})

test('a text about a login needs no status', () => {
  for (const text of ['Not logged in', 'Please log in', 'Invalid API key']) assert.ok(isAuthText(text), text)
  assert.ok(isAuthText('quota of the plan', /quota/))
})

// As one expression the search took time that grows with the square of the text.
test('a megabyte of statuses without a word is searched once', () => {
  assert.not(isAuthText('401 '.repeat(256 * 1024)))
})

test.run()
