import * as assert from 'uvu/assert'
import { tokenize } from '../../../scripts/shape/tokens.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/tokens')

const kinds = (text: string): string => tokenize(text).code.map(({ kind, text: part }) => `${kind}:${part}`).join(' ')

const cases: readonly [name: string, text: string, expected: string][] = [
  ['keeps a string whole and drops its quotes', "a('// no', \"/* no */\")",
    'word:a mark:( string:// no mark:, string:/* no */ mark:)'],
  ['reads escaped quotes', String.raw`'it\'s' b`, String.raw`string:it\'s word:b`],
  ['tells a division from a regular expression', 'a / b / c', 'word:a mark:/ word:b mark:/ word:c'],
  ['finds a regular expression behind an equals sign', 'a = /"[/"]/g', 'word:a mark:= regex:/"[/"]/g'],
  ['finds a regular expression behind return', 'return /x/', 'word:return regex:/x/'],
  ['divides by a value behind a call', 'f(a) / b / c', 'word:f mark:( word:a mark:) mark:/ word:b mark:/ word:c'],
  ['finds a regular expression behind a condition', 'if (a) /b/.exec(c)',
    'word:if mark:( word:a mark:) regex:/b/ mark:. word:exec mark:( word:c mark:)'],
  ['divides an element', 'a[0] / 2 / 1', 'word:a mark:[ number:0 mark:] mark:/ number:2 mark:/ number:1'],
  ['divides a property that is called like a keyword', 'a.in / b / c',
    'word:a mark:. word:in mark:/ word:b mark:/ word:c'],
  ['divides a counter', 'a++ / b / c', 'word:a mark:++ mark:/ word:b mark:/ word:c'],
  ['divides an asserted value', 'a! / b / c', 'word:a mark:! mark:/ word:b mark:/ word:c'],
  ['finds a regular expression behind a negation', 'a = !/b/', 'word:a mark:= mark:! regex:/b/'],
  ['reads the code of a template and not its text', '`eval ${a} // ${ {b: 1} }` + c', 'template:`eval ${ word:a template:} // ${ mark:{ word:b mark:: number:1 mark:} template:}` mark:+ word:c'],
  ['reads a template inside a template', '`a ${b ? `c ${d}` : e} f` / g',
    'template:`a ${ word:b mark:? template:`c ${ word:d template:}` mark:: word:e template:} f` mark:/ word:g'],
  ['reads a dollar and an escaped backtick in a template', '`$a \\` $` b', 'template:`$a \\` $` word:b'],
  ['reads numbers with separators, exponents and suffixes', '1_000 0xff 1e9 .5 10n',
    'number:1_000 number:0xff number:1e9 number:.5 number:10n'],
  ['reads private names as one word', 'this.#a', 'word:this mark:. word:#a'],
  ['closes two lists of type arguments one by one', 'A<B<C>>', 'word:A mark:< word:B mark:< word:C mark:> mark:>'],
  ['skips the line of an interpreter', '#!/usr/bin/env node\na', 'word:a'],
]
for (const [name, text, expected] of cases) test(name, () => assert.is(kinds(text), expected))

test('gives comments apart, each with the line where it begins', () => {
  const { comments, code } = tokenize('a // one\n/* two\n */ b\n')
  assert.equal(comments, [{ text: '// one', line: 1 }, { text: '/* two\n */', line: 2 }])
  assert.equal(code.map(({ text, line }) => [text, line]), [['a', 1], ['b', 3]])
})

test('counts lines inside templates', () => {
  assert.equal(tokenize('`\n\n` a').code.map(({ line }) => line), [1, 3])
})

test('says where it cannot read', () => {
  assert.throws(() => tokenize('a\n`open', 'src/a.ts'), 'Cannot read a template at src/a.ts:2')
  assert.throws(() => tokenize("'open", 'src/a.ts'), 'Cannot read a string at src/a.ts:1')
})

test.run()
