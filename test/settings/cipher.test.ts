/** Whether sealed values open again with the right key and context, and with nothing else. */
import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createCipher, isSealed } from '../../src/settings/cipher.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/cipher')

const key = Buffer.alloc(32, 1)
const cipher = createCipher({ keys: [key], random: randomBytes })

test('opens what it sealed', () => {
  for (const value of ['', 'hunter2hunter2', 'é\0\n', 'x'.repeat(100_000)]) {
    const token = cipher.seal(value, 'llm.api_key')
    assert.match(token, /^as1:[0-9a-f]{8}:[A-Za-z0-9_-]+$/)
    assert.ok(isSealed(token))
    assert.is(cipher.open(token, 'llm.api_key'), value)
  }
})

test('seals the same value differently every time', () => {
  assert.is.not(cipher.seal('value', 'a'), cipher.seal('value', 'a'))
})

test('gives the known answer for a fixed key and nonce', () => {
  const fixed = createCipher({ keys: [key], random: (size) => Buffer.alloc(size, 2) })
  // Computed with WebCrypto, a second implementation.
  assert.is(fixed.seal('known value', 'NAME'), 'as1:56376365:AgICAgICAgICAgICbLimPiR3t5y_udm-h8jo9xt1ndVfBxl75OfG')
})

test('a fingerprint is that of one text under one key', () => {
  const other = createCipher({ keys: [Buffer.alloc(32, 2), key], random: randomBytes })
  assert.match(cipher.fingerprint('text'), /^[0-9a-f]{32}$/)
  assert.is(cipher.fingerprint('text'), cipher.fingerprint('text'))
  assert.is.not(cipher.fingerprint('text'), cipher.fingerprint('other text'))
  assert.is.not(cipher.fingerprint('text'), other.fingerprint('text'))
})

test('does not open a token in another context', () => {
  assert.is(cipher.open(cipher.seal('value', 'GITHUB_TOKEN'), 'OPENAI_API_KEY'), undefined)
})

test('does not open a damaged token, wherever the damage is', () => {
  const token = cipher.seal('value', 'a')
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'A' ? 'B' : 'A'
    assert.is(cipher.open(token.slice(0, index) + other + token.slice(index + 1), 'a'), undefined, `at ${index}`)
  }
})

test('does not open what is no token', () => {
  for (const text of [
    '', 'value', 'as1:', 'as1:00000000:', 'as1:00000000:AAAA', `${cipher.seal('v', 'a')}=`,
    `${cipher.seal('value', 'a')}A`, 'as2:x',
  ]) {
    assert.is(cipher.open(text, 'a'), undefined)
  }
})

test('opens the tokens of older keys and seals with the first', () => {
  const newer = Buffer.alloc(32, 3)
  const rotated = createCipher({ keys: [newer, key], random: randomBytes })
  assert.is(rotated.open(cipher.seal('value', 'a'), 'a'), 'value')
  assert.is(cipher.open(rotated.seal('value', 'a'), 'a'), undefined)
  assert.is(createCipher({ keys: [newer], random: randomBytes }).open(rotated.seal('value', 'a'), 'a'), 'value')
})

test('refuses to work without a key', () => {
  assert.throws(() => createCipher({ keys: [], random: randomBytes }), /at least one key/)
})

test.run()
