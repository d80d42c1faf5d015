/** A name that stands twice in one object, in any spelling, and texts that only look like it. */
import * as assert from 'uvu/assert'
import { hasDoubledMember } from '../../src/http/json-members.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/json-members')

const isDoubled = (text: string): boolean => hasDoubledMember(Buffer.from(text), JSON.parse(text))

const doubled = [
  '{"a":1,"a":1}', '{"a":1,"b":2,"\\u0061":3}', '[{"a":[{"b":1,"b":{}}]}]', '{"__proto__":1,"__proto__":2}',
  '{"":0,"":0}', '{"a":":","a":1}', '{"\\"":1,"\\"":2}', '{"ä":1,"\\u00e4":2}', '{"1":1,"1":2}',
  '{"a":{"b":1},"a":{"b":1}}',
]
for (const text of doubled) test(`finds the name that stands twice in ${text}`, () => assert.ok(isDoubled(text)))

const single = [
  '{}', '[]', 'null', '""', '7', '{"a":1,"A":1}', '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":1}]',
  '{"a":"b:\\"c\\":","d":"\\\\"}', '{"a:a":":::"}', '{"__proto__":1,"constructor":2,"toString":3}', '{"a":"\\\\\\":"}',
  '{"ä":1,"a":1}', '":"', '["{\\"a\\":1,\\"a\\":2}"]',
]
const long = 'x:'.repeat(200)
single.push(`{"a":"${long}"}`, `{"a":"${long}\\\\"}`, `{"a":"${long}\\":\\"${long}","b":":"}`, `{"${long}":1}`)
test('finds one behind a long text that ends with an escaped quote', () => {
  assert.ok(isDoubled(`{"a":"${long}\\"","a":1}`))
})
for (const text of single) test(`finds none in ${text}`, () => assert.not.ok(isDoubled(text)))

test.run()
