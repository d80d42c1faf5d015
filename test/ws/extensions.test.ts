import * as assert from 'uvu/assert'
import { parseExtensions } from '../../src/ws/extensions.ts'
import { suite } from '../support/suite.ts'

const test = suite('ws/extensions')

const parsed: Record<string, ReturnType<typeof parseExtensions>> = {
  '': [],
  ' , ,': [],
  foo: [{ name: 'foo', parameters: [] }],
  ', foo ,, bar': [
    { name: 'foo', parameters: [] },
    { name: 'bar', parameters: [] },
  ],
  'foo;a': [{ name: 'foo', parameters: [{ name: 'a', value: undefined }] }],
  'foo ; a = 1;\tb=x': [
    {
      name: 'foo',
      parameters: [
        { name: 'a', value: '1' },
        { name: 'b', value: 'x' },
      ],
    },
  ],
  'foo; a="10"': [{ name: 'foo', parameters: [{ name: 'a', value: '10' }] }],
  'foo; a="1\\0"': [{ name: 'foo', parameters: [{ name: 'a', value: '10' }] }],
  'foo; a; a=1': [
    {
      name: 'foo',
      parameters: [
        { name: 'a', value: undefined },
        { name: 'a', value: '1' },
      ],
    },
  ],
  "!#$%&'*+.^_`|~-9Zz": [{ name: "!#$%&'*+.^_`|~-9Zz", parameters: [] }],
}
for (const [header, offers] of Object.entries(parsed)) {
  test(`reads ${JSON.stringify(header)}`, () => assert.equal(parseExtensions(header), offers))
}

const broken = [
  'foo bar',
  'foo;',
  ';a',
  'foo;;a',
  'foo; a=',
  'foo; =1',
  'foo; a=1=2',
  'foo; a="',
  'foo; a=""',
  'foo; a="b',
  'foo; a="b c"',
  'foo; a="b,c"',
  'foo; a="b;c"',
  'foo; a="b\\"',
  'foo; a="b"c',
  'foo; a b',
  'f@o',
  'foo/bar',
  'föö',
  '"foo"',
  'foo, b@r',
  'foo; a=b\\c',
]
for (const header of broken) {
  test(`refuses ${JSON.stringify(header)}`, () => assert.is(parseExtensions(header), undefined))
}

test('reads a long header in no time', () => {
  assert.is(parseExtensions(`foo; a="${'\\a'.repeat(16_000)}`), undefined)
  assert.is(parseExtensions('foo;a,'.repeat(5_000))?.length, 5_000)
})

test.run()
