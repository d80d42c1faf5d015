import * as assert from 'uvu/assert'
import { redactIssue } from '../../src/schema/redact.ts'
import { suite } from '../support/suite.ts'

const test = suite('schema redact')
const issue = { loc: ['body'], msg: 'm', type: 't' }

/** A small input as an issue shows it. */
function redactInput(input: unknown): unknown {
  return redactIssue({ loc: ['body'], msg: '', type: '', input }).input
}

test('hides what stands under a secret name, at any depth', () => {
  const names = [
    'Authorization', 'set-cookie', 'credentials', 'api_key', 'KEY', 'x-monkey', 'password', 'client_secret',
    'sessionId', 'TOKENS', 'value',
  ]
  for (const name of names) {
    const input = { a: [{ [name]: { b: 'secret' }, plain: 1 }] }
    assert.equal(redactInput(input), { a: [{ [name]: '<redacted>', plain: 1 }] })
  }
})

test('hides every leaf under environment, env, headers and auth, and keeps their shape', () => {
  for (const name of ['environment', 'env', 'headers', 'Headers', 'auth']) {
    const input = { [name]: { PATH: '/bin', more: [1, { a: null }] } }
    assert.equal(redactInput(input), { [name]: { PATH: '<redacted>', more: ['<redacted>', { a: '<redacted>' }] } })
  }
  assert.equal(redactInput({ env: 'A=b' }), { env: '<redacted>' })
})

test('hides every leaf under names that end so, and what stands in the place of an object', () => {
  for (const name of ['extra_headers', 'acp_env', 'litellm_extra_body']) {
    assert.equal(redactInput({ [name]: { A: 'secret', B: ['secret'] } }), {
      [name]: { A: '<redacted>', B: ['<redacted>'] },
    })
    assert.equal(redactIssue({ ...issue, loc: ['body', name, 'A'], input: 'secret' }).input, '<redacted>')
  }
  for (const type of ['dict_type', 'model_attributes_type']) {
    assert.is(redactIssue({ ...issue, type, loc: ['body', 'llm'], input: 'sk-1234567890' }).input, '<redacted>')
    assert.equal(
      redactIssue({ ...issue, type, loc: ['body', 'llm'], input: ['sk-1234567890', { a: 'kept' }, 7, 'short'] }).input,
      ['<redacted>', { a: 'kept' }, 7, 'short'],
    )
  }
  assert.is(
    redactIssue({ ...issue, type: 'string_type', loc: ['body', 'model'], input: 'a longer word' }).input,
    'a longer word',
  )
})

test('keeps everything else', () => {
  const input = { name: 'x', list: [1, null, true, 'text'], command: 'echo' }
  assert.equal(redactInput(input), input)
  assert.is(redactInput('a scalar'), 'a scalar')
  assert.is(redactInput(null), null)
})

test('does not touch the original', () => {
  const input = { api_key: 'secret', list: [{ token: 'secret' }] }
  redactInput(input)
  assert.equal(input, { api_key: 'secret', list: [{ token: 'secret' }] })
})

test('is not misled by a member named __proto__', () => {
  const input: unknown = JSON.parse('{"__proto__":{"token":"secret","a":1}}')
  assert.is(JSON.stringify(redactInput(input)), '{"__proto__":{"token":"<redacted>","a":1}}')
})

test('hides the whole input of an issue at a secret place', () => {
  for (const place of ['api_key', 'secrets', 'value']) {
    assert.is(redactIssue({ ...issue, loc: ['body', place, 0, 'x'], input: ['secret'] }).input, '<redacted>')
  }
  assert.is(redactIssue({ ...issue, loc: ['body', 'env', 'PATH'], input: 5 }).input, '<redacted>')
  assert.is(redactIssue({ ...issue, loc: ['body', 'name'], input: 5 }).input, 5)
})

test('keeps the other members of an issue, and an issue without input', () => {
  const bounded = { ...issue, ctx: { ge: 1 } }
  assert.equal(redactIssue({ ...bounded, input: { key: 1 } }), { ...bounded, input: { key: '<redacted>' } })
  assert.equal(redactIssue(issue), issue)
})

test('leaves out an input that is too large to show', () => {
  const large: readonly unknown[] = [
    'x'.repeat(5000), Array(5000).fill(0), { a: Array(100_000).fill(0) }, { ['n'.repeat(5000)]: 1 },
    Array(60).fill('x'.repeat(100)),
  ]
  for (const input of large) assert.equal(redactIssue({ ...issue, input }), issue)
  assert.is(redactIssue({ ...issue, input: 'x'.repeat(4000) }).input, 'x'.repeat(4000))
})

test.run()
