/** Images and arguments as other formats than OpenAI's want them. */
import * as assert from 'uvu/assert'
import { argumentsOf, imageSource } from '../../../../src/parts/builtin/llm/message-parts.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/message-parts')

test('a data URL is taken apart, with its media type as providers know it', () => {
  assert.equal(imageSource('data:image/png;base64,AAAA'), { mediaType: 'image/png', base64: 'AAAA' })
  assert.equal(imageSource('data:image/JPG;name=a;base64,AAAA'), { mediaType: 'image/jpeg', base64: 'AAAA' })
})

test('what is no base64 stays an address', () => {
  for (const url of ['https://example.org/a,b.png', 'data:image/png,AAAA', 'data:', '']) {
    assert.equal(imageSource(url), { url })
  }
})

test('arguments that are no object count as none', () => {
  assert.equal(argumentsOf({ arguments: '{"a":1}' }), { a: 1 })
  for (const text of ['[1]', '"a"', 'null', '{', '']) assert.equal(argumentsOf({ arguments: text }), {})
})

test.run()
