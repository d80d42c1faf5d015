/** Arguments as models write them: sound, mendable and broken. */
import * as assert from 'uvu/assert'
import { readArguments } from '../../../src/parts/builtin/calls/tool-arguments.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/tool-arguments')

test('sound arguments are taken as they are, and an empty text is none', () => {
  assert.equal(readArguments('{"a":[1,{"b":"}"}]}'), { ok: true, args: { a: [1, { b: '}' }] } })
  assert.equal(readArguments(' '), { ok: true, args: {} })
})

test('raw control characters inside a string are escaped', () => {
  const text = '{\n"a": "one\ntwo\tthree \\" four\u0001"\n}'
  assert.equal(readArguments(text), { ok: true, args: { a: 'one\ntwo\tthree " four\u0001' } })
})

test('text behind the object is cut', () => {
  for (const rest of ['}', '</function>', ' {"b":2}', '\n```']) {
    assert.equal(readArguments(`{"a":"x{\\\\"}${rest}`), { ok: true, args: { a: 'x{\\' } })
  }
})

test('what is no object, or stays broken, is refused without quoting it', () => {
  for (const text of ['[1]', '"hunter2"', '12', 'null', '{"a":', '{a:1}', 'hunter2', '}{']) {
    const read = readArguments(text)
    assert.is(read.ok, false, text)
    assert.not.match(JSON.stringify(read), 'hunter2')
  }
})

test.run()
