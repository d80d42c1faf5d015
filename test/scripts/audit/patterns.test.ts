/** Regular expressions of the audit: those that are found, the texts that are made for them, and what is measured. */
import * as assert from 'uvu/assert'
import { attacksOn, textOf } from '../../../scripts/audit/pattern-attacks.ts'
import { parsePattern } from '../../../scripts/audit/pattern-syntax.ts'
import { measurePattern, slowMs } from '../../../scripts/audit/pattern-time.ts'
import { patternsOf } from '../../../scripts/audit/patterns.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/patterns')

test('finds literals, and expressions that are made of constants of their file', () => {
  const lines = [
    "const word = '[a-z]+'",
    'const both = [/a/, /b/] as const',
    "export const one = new RegExp(`^${word}$`, 'i')",
    "const two = new RegExp(both.map(({ source }) => source).join('|'))", 'const parts = text.split(/,/)',
  ]
  const found = patternsOf(readSource('src/a.ts', `${lines.join('\n')}\n`))
  const shown = found.map(({ line, text }) => `${line} ${text}`)
  assert.equal(shown, ['2 /a/', '2 /b/', '5 /,/', '3 /^[a-z]+$/i', '4 /a|b/'])
  assert.equal(found.map(({ pattern }) => pattern?.isRepeated), [false, false, true, false, false])
})

test('lists an expression of anything else, and evaluates nothing of it', () => {
  const hostile = 'const a = new RegExp(this.constructor.constructor("process.exit(3)")())'
  for (const text of ['function a(b: string) {\n  return new RegExp(b)\n}', hostile]) {
    assert.equal(patternsOf(readSource('src/a.ts', `${text}\n`)).map(({ pattern }) => pattern), [undefined])
  }
})

/** Each with the beginning, the repeated text and an end of an attack that makes it slow. */
const slow: readonly [source: string, prefix: string, pump: string, suffix: string][] = [
  ['\\s+$', '', ' ', '\u0001'],
  ['^(?:a+)+$', '', 'a', '!'],
  ['model\\b[^]{0,200}?\\bnot found', '', 'model', ''],
  ['^key=(\\w+\\s?)*;', 'key=', '0', '!'],
  ['"(?:[^"\\\\]|\\\\.)*"', '', '"\\', '\n'],
]
for (const [source, prefix, pump, suffix] of slow) {
  test(`makes a text that is slow for ${source}`, () => {
    const { attacks } = attacksOn(parsePattern(source), '')
    assert.ok(attacks.some((one) => one.prefix === prefix && one.pump === pump && one.suffix === suffix))
  })
}

test('reads every form of the syntax', () => {
  const forms = '^(?:a|[^\\]b]|\\])(?<name>\\p{L}{2,3}?)\\k<name>(?=c)(?!d)(?<=e)(?<!f)\\b' +
    '\\u{1F600}\\u0041\\x41\\cA.*?$|'
  assert.equal(parsePattern(forms).kind, 'choice')
  assert.equal(parsePattern('a{2}'), { kind: 'repeat', min: 2, max: 2, body: { kind: 'char', source: 'a' } })
  assert.equal(parsePattern('a{2,}'), { kind: 'repeat', min: 2, max: Infinity, body: { kind: 'char', source: 'a' } })
  assert.throws(() => parsePattern('(a'), /not closed/)
  assert.throws(() => parsePattern('a)'), /Cannot read the pattern/)
})

test('a text has the wanted number of characters', () => {
  assert.is(textOf({ prefix: 'a', pump: 'bc', suffix: 'd' }, 10), 'abcbcbcbcd')
})

test('stops an exponential expression and says so, and passes a linear one', () => {
  const exponential = measurePattern({ source: '^(?:a+)+$', flags: '', isRepeated: false }, 64)
  assert.ok(exponential.ms > slowMs)
  const linear = measurePattern({ source: '^[a-z]+$', flags: '', isRepeated: false }, 1000)
  assert.not.ok(linear.isSuperLinear)
  assert.not.ok(linear.isCutOff)
  assert.is(linear.chars, 1000)
})

test.run()
