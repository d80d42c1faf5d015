/** The front matter of skill files: the accepted text, the refused text, and that no text makes it slow. */
import * as assert from 'uvu/assert'
import { parseFrontMatter } from '../../../src/parts/skills/front-matter.ts'
import { AppError } from '../../../src/base/errors.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/skills/front-matter')

function matter(...lines: string[]): ReturnType<typeof parseFrontMatter> {
  return parseFrontMatter(['---', ...lines, '---', 'The body.'].join('\n'))
}

function problemOf(work: () => unknown): string {
  try {
    work()
    return 'none'
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    return thrown.message.replace('Cannot read the front matter: ', '')
  }
}

test('a text without front matter is all body', () => {
  for (const text of ['Hello', '# Title\n---\nmore', '----\nname: a\n---', '']) {
    assert.is(parseFrontMatter(text).body, text)
  }
  assert.is(parseFrontMatter('Hello').text('name'), undefined)
})

test('the body is what follows, whatever ends its lines, and however often a fence comes again', () => {
  assert.is(parseFrontMatter('\uFEFF---\r\nname: a\r\n--- \r\n\r\nOne\r\n---\r\nTwo\r\n').body, 'One\n---\nTwo')
  assert.is(parseFrontMatter('---\n---\nBody').body, 'Body')
  assert.is(parseFrontMatter('---\nname: a\n---').body, '')
})

const texts: readonly (readonly [string[], string | undefined])[] = [
  [['name: plain'], 'plain'],
  [['name:   spaced   # a comment'], 'spaced'],
  [['name: with: a colon and a#sign'], 'with: a colon and a#sign'],
  [["name: 'it''s # no comment'"], "it's # no comment"],
  [['name: "a \\"quoted\\" \\u00e9 # text" # comment'], 'a "quoted" é # text'],
  [['name: one', '  and more # comment', '  of it'], 'one and more of it'],
  [['name:', '  below'], 'below'],
  [['name: |', '  one', '    two', '', '  # three'], 'one\n  two\n\n# three'],
  [['name: >-', '  one', '  two', '', '  three'], 'one two\nthree'],
  [['name: |'], undefined],
  [['name: |-'], undefined],
  [['name: >', '  ', ''], undefined],
  [['name:'], undefined],
  [['name: ""'], undefined],
  [['other: a'], undefined],
]

for (const [lines, expected] of texts) {
  test(`the text of ${JSON.stringify(lines.join('\n'))} is ${JSON.stringify(expected)}`, () => {
    assert.is(matter(...lines).text('name'), expected)
  })
}

const lists: readonly (readonly [string[], string[]])[] = [
  [['name:', '- one', '- two three'], ['one', 'two three']],
  [['name:', '  - "a, b"', '', '  # no item', "  - '- c'", '  - /d # comment'], ['a, b', '- c', '/d']],
  [['name: [one, "two, three", \'four\', ]'], ['one', 'two, three', 'four']],
  [['name: [one,', '  two]'], ['one', 'two']],
  [['name: []'], []],
  [['name:'], []],
  [['name: single'], ['single']],
  [['other: a'], []],
]

for (const [lines, expected] of lists) {
  test(`the list of ${JSON.stringify(lines.join('\n'))} is ${JSON.stringify(expected)}`, () => {
    assert.equal(matter(...lines).list('name'), expected)
  })
}

test('only true is true', () => {
  for (const value of ['true', 'true # yes']) assert.ok(matter(`name: ${value}`).flag('name'))
  for (const value of ['false', '"true"', 'yes', '1', '']) assert.not.ok(matter(`name: ${value}`).flag('name'))
  assert.not.ok(matter('other: true').flag('name'))
})

test('fields that nobody asks for may be any YAML', () => {
  const { text } = matter(
    'metadata: &anchor', '  deep: {a: [1, 2]}', '  list:', '    - a: b', 'inputs:', '- name: A', '  description: "B',
    'name: mine',
  )
  assert.is(text('name'), 'mine')
})

test('what has no end, no names or a name twice is refused', () => {
  assert.is(problemOf(() => parseFrontMatter('---\nname: a')), 'it has no end, expected a line of ---')
  assert.is(problemOf(() => matter('name: a', 'name: b')), 'the field "name" is given twice')
  assert.is(problemOf(() => matter('just words')), 'expected "name: value", not "just words"')
  assert.is(problemOf(() => matter('  indented: a')), 'expected "name: value", not "  indented: a"')
  assert.is(problemOf(() => matter('- item')), 'expected "name: value", not "- item"')
  assert.is(problemOf(() => matter('# a comment', '', 'name: a')), 'none')
})

test('what would have to be guessed at is refused when it is asked for', () => {
  const odd = ['&a b', '*a', '!tag b', '{a: b}', '"no end', "'no end", '"a" b', '@a', '`a', '%a', '- a', '"\\x41"']
  for (const value of odd) {
    assert.match(problemOf(() => matter(`name: ${value}`).text('name')), 'no text that could be read')
  }
  assert.match(problemOf(() => matter('name: [a').list('name')), 'the list "name" has no end')
  for (const item of ['[&a]', '["a]', "['a]", '[{a: b}]', '["a\\]', '[[a]]']) {
    assert.match(problemOf(() => matter(`name: ${item}`).list('name')), 'no text that could be read')
  }
  assert.match(problemOf(() => matter('name:', '  words').list('name')), 'is no list of texts')
  assert.match(problemOf(() => matter('name:', '  - a', '    b').list('name')), 'is no list of texts')
})

/** A number from 0 up to but not including `limit` (mulberry32). */
function randomFrom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
}

test('random front matter is read or refused, and never anything else', () => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_007)
  const below = randomFrom(seed)
  const parts = [
    '---', '\n', '\n', 'name', ':', ' ', '- ', '"', "'", '[', ']', ',', '#', '|', '>', '\\', 'a', '\t', '\r', '{', '&',
    'é',
  ]
  for (let round = 0; round < 4000; round++) {
    const text = `---\n${Array.from({ length: below(40) }, () => parts[below(parts.length)]).join('')}${below(2) === 0 ? '' : '\n---\nx'}`
    for (const read of ['text', 'list', 'flag'] as const) {
      try {
        void parseFrontMatter(text)[read]('name')
      } catch (thrown) {
        assert.ok(thrown instanceof AppError, `FUZZ_SEED=${seed} ${JSON.stringify(text)}: ${String(thrown)}`)
      }
    }
  }
})

test('no text of the largest size takes more than linear time', () => {
  const size = 64 * 1024
  const inputs = ['"\\', "'", '"', '\\"', "''", ' ', '# ', '- ', '[,', 'a:', '\n', '"a', "'a,", '\t#']
  for (const part of inputs) {
    for (const start of ['name: ', 'name: [', 'name: "', 'name:\n  - ', 'name: |\n ']) {
      const text = `---\n${start}${part.repeat(size / part.length)}]\n---\n`
      for (const read of ['text', 'list'] as const) {
        assert.type(problemOf(() => parseFrontMatter(text)[read]('name')), 'string')
      }
    }
  }
})

test.run()
