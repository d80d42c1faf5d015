/**
 * Regular expressions of the audit: the expressions that are found, the texts that are made for them, and the
 * measurements.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { attacksOn, textOf } from '../../../scripts/audit/pattern-attacks.ts'
import { parsePattern } from '../../../scripts/audit/pattern-syntax.ts'
import { PatternRunner } from '../../../scripts/audit/pattern-runner.ts'
import { measurePattern, slowMs } from '../../../scripts/audit/pattern-time.ts'
import { patternsOf } from '../../../scripts/audit/patterns.ts'
import { reportOn } from '../../../scripts/audit/report.ts'
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

/** The expressions that `new RegExp` makes in a file, `-` for one that is not evaluated. */
function madeIn(text: string, others: Readonly<Record<string, string>> = {}): readonly string[] {
  const files = new Map(Object.entries(others).map(([path, other]) => [path, readSource(path, other)]))
  return patternsOf(readSource('src/b/a.ts', `${text}\n`), (path) => files.get(path))
    .filter((one) => one.pattern === undefined || !text.includes(one.text))
    .map(({ pattern }) => (pattern === undefined ? '-' : `/${pattern.source}/${pattern.flags}`))
}

const evaluated: readonly [name: string, text: string, shown: string][] = [
  [
    'escape sequences as the language does', String.raw`const a = new RegExp('\\x41\x41\u0042\u{43}\0\q')`,
    '/\\x41ABC\0q/',
  ],
  ['String.raw', 'const a = new RegExp(String.raw`\\d${b}`)\nconst b = "+"', '/\\d+/'],
  ['a sum in parentheses', "const a = new RegExp(('b' + 'c') +\n  'd', 'g')", '/bcd/g'],
  [
    'a nested list',
    "const a = new RegExp(`(${[\n  'b', ...c,\n].join('|')})`)\nconst c = ['d', 'e'] as const",
    '/(b|d|e)/',
  ],
  ['another expression', "const a = RegExp(/b/, 'i')", '/b/i'],
  ['a parameter of map', "const a = new RegExp(['b', 'c'].map((one) => `${one}+`).join(''))", '/b+c+/'],
]
for (const [name, text, shown] of evaluated) {
  test(`evaluates ${name}`, () => {
    assert.equal(madeIn(text), [shown])
  })
}

test('evaluates constants of an imported file, also under another name', () => {
  const text = "import { word as name } from '../c.ts'\nconst a = new RegExp(`${name}+`)"
  assert.equal(madeIn(text, { 'src/c.ts': "export const word = '[a-z]' + end\nconst end = '0'\n" }), ['/[a-z]0+/'])
  assert.equal(madeIn(text), ['-'])
})

const unknown: readonly [name: string, text: string][] = [
  ['a parameter', 'function a(b: string) {\n  return new RegExp(b)\n}'],
  ['a parameter with the name of a constant', "const b = 'c'\nconst a = (b: string) => new RegExp(b)"],
  ['a parameter of a method', "const b = 'c'\nconst a = {\n  make(b: string) { return new RegExp(b) },\n}"],
  ['a call', "const a = new RegExp(b('c'))"],
  ['a computed member', "const a = new RegExp('b'['repeat'](2))"],
  ['a list that is changed later', "const b = ['c']\nb.push('d')\nconst a = new RegExp(b.join(''))"],
  ['a condition behind a constant', "const b = 'c'\n  || 'd'\nconst a = new RegExp(b)"],
  ['a variable', "let b = 'c'\nconst a = new RegExp(b)"],
  ['a constant that needs itself', "const b = 'c' + b\nconst a = new RegExp(b)"],
  ['a text that doubles without end', `const b0 = 'c'\n${Array.from({ length: 30 }, (_, at) =>
    `const b${at + 1} = b${at} + b${at}\n`).join('')}const a = new RegExp(b30)`],
  ['an own String', "const String = { raw: b }\nconst a = new RegExp(String.raw`c`)"],
  ['another name for RegExp', "const Other = RegExp\nconst a = new Other('b')"],
  ['no regular expression', "const a = new RegExp('(')"],
]
for (const [name, text] of unknown) {
  test(`lists an expression of ${name} as not evaluated`, () => {
    assert.equal(madeIn(text), ['-'])
  })
}

test('measures the texts that the schema compiles', () => {
  const found = patternsOf(readSource('src/schema/spec/a.ts', "const a = stringOf({ pattern: '^\\\\d$' })\n"))
  assert.equal(found.map(({ pattern }) => pattern), [{ source: '^\\d$', flags: 'u', isRepeated: false }])
})

test('runs nothing of a hostile source', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-'))
  try {
    const proof = join(folder, 'proof')
    const text = [
      "const code = 'return this.constructor.constructor(\"return process\")()'",
      "const evil = [].map['constr' + 'uctor'](code)()['getBuiltin' + 'Module']('node:fs')" +
        `['writeFile' + 'Sync'](${JSON.stringify(proof)}, 'run')`,
      'const a = new RegExp(String(evil))',
      'const b = new RegExp(`${evil}`)',
      "const c = new RegExp([evil].join(''))",
    ].join('\n')
    const { faults } = reportOn([readSource('src/a.ts', `${text}\n`)], true)
    assert.equal(faults.filter((fault) => fault.includes('is not evaluated')).length, 3)
    assert.not(existsSync(proof))
  } finally {
    await rm(folder, { recursive: true })
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
  const runner = new PatternRunner()
  const exponential = measurePattern({ source: '^(?:a+)+$', flags: '', isRepeated: false }, 64, runner)
  assert.ok(exponential.ms > slowMs)
  const linear = measurePattern({ source: '^[a-z]+$', flags: '', isRepeated: false }, 1000, runner)
  runner.close()
  assert.not.ok(linear.isSuperLinear)
  assert.not.ok(linear.isCutOff)
  assert.is(linear.chars, 1000)
})

test.run()
