/** Whether the masker keeps up with stored secrets, and replaced ones make room at its limit. */
import * as assert from 'uvu/assert'
import { createMasker, secretMark } from '../../src/base/masking.ts'
import { createMaskedValues } from '../../src/settings/masked-values.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/masked-values')

test('masks the newest values of each name and the ones they replaced', () => {
  const masker = createMasker()
  const setMasked = createMaskedValues(masker)
  setMasked('A', ['first-of-a', 'second-of-a'])
  setMasked('B', ['first-of-b'])
  setMasked('A', ['third-of-a'])
  setMasked('B', [])
  for (const value of ['first-of-a', 'second-of-a', 'third-of-a', 'first-of-b']) {
    assert.is(masker.mask(value), secretMark)
  }
})

test('gives replaced values up at the limit, the oldest first', () => {
  // Each value has about 80 characters in all its forms.
  const masker = createMasker({ limitChars: 300 })
  const setMasked = createMaskedValues(masker)
  for (let place = 1; place < 10; place++) setMasked('A', [`value-no-${place}`])
  assert.is(masker.mask('value-no-1'), 'value-no-1')
  assert.is(masker.mask('value-no-8 value-no-9'), `${secretMark} ${secretMark}`)
})

test('a repeated value pushes no replaced value out, however often a client sends it', () => {
  const masker = createMasker()
  const setMasked = createMaskedValues(masker)
  setMasked('A', ['the-stored-value'])
  for (let time = 0; time < 200; time++) setMasked('A', ['the-value-of-a-write-that-fails'])
  assert.is(masker.mask('the-stored-value'), secretMark)
})

test('refuses more than the limit, and keeps what it has', () => {
  const masker = createMasker({ limitChars: 300 })
  const setMasked = createMaskedValues(masker)
  setMasked('A', ['value-no-1'])
  assert.throws(() => setMasked('B', ['x'.repeat(301)]), /at most 300 characters/)
  assert.is(masker.mask('value-no-1'), secretMark)
})

test.run()
