import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { titleOf } from '../../src/conversation/titles.ts'

const test = suite('conversation/titles')

test('takes a short text as it is, on one line', () => {
  assert.is(titleOf('  Fix\n the   build '), 'Fix the build')
})

test('cuts a long text to 47 characters and three dots', () => {
  const title = titleOf('x'.repeat(51))
  assert.is(title, `${'x'.repeat(47)}...`)
  assert.is(titleOf('x'.repeat(50)), 'x'.repeat(50))
})

test('never cuts a character in two', () => {
  const title = titleOf('😀'.repeat(60)) ?? ''
  assert.not.match(title, /\p{Surrogate}/u)
  assert.is([...title].length, 50)
})

test('gives none for a text without words', () => {
  assert.is(titleOf(' \n\t'), undefined)
})

test.run()
