import * as assert from 'uvu/assert'
import { problemWithAcpEnv } from '../../src/settings/acp-env.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/acp-env')

test('takes variables that configure an agent', () => {
  assert.is(problemWithAcpEnv({ OPENAI_MODEL: 'gpt-mock', _x1: '' }), undefined)
})

const refused: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
  ['a name that steers programs', { NODE_OPTIONS: '--inspect' }, /"NODE_OPTIONS".*decides which code programs load/],
  ['a name with other characters', { 'A B': 'x' }, /"A B".*letters, digits/],
  ['an empty name', { '': 'x' }, /letters, digits/],
  ['a NUL in a value', { A: 'x\0y' }, /holds a NUL/],
  ['a long value', { A: 'x'.repeat(8193) }, /longer than 8192/],
]

for (const [what, variables, words] of refused) {
  test(`refuses ${what}`, () => {
    assert.match(problemWithAcpEnv(variables) ?? '', words)
  })
}

test.run()
