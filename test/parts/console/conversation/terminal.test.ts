import * as assert from 'uvu/assert'
import { terminalLines } from '../../../../src/parts/console/page/conversation/terminal.ts'
import { excerptOf, rowsOf, visible } from '../../../../src/parts/console/page/conversation/visible-text.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: terminal output and invisible characters')

function plain(text: string): string {
  return terminalLines(text).map((line) => line.map((run) => run.text).join('')).join('\n')
}

const moved: readonly (readonly [text: string, shown: string])[] = [
  ['a\r\nb', 'a\nb'],
  ['progress 10%\rprogress 100%\rP', 'Progress 100%'],
  ['abc\b\bX', 'aXc'],
  ['a\tb', 'a       b'],
  ['one\ntwo\n\u001b[2Aup', 'upe\ntwo\n'],
  ['abcdef\u001b[3D\u001b[K!', 'abc!'],
  ['abc\u001b[2K\rd', 'd'],
  ['old\nlines\u001b[2Jnew', 'new'],
  ['old\nlines\u001b[3Jnew', 'new'],
  ['old\nlines\u001b[4J!', 'old\nlines!'],
  ['abc\u001b[3K!', 'abc!'],
  ['a\u001b[5Cb', 'a     b'],
  ['\u001b]0;title\u0007text\u001b]8;;https://a.b\u001b\\link\u001b]8;;\u001b\\', 'textlink'],
  ['\u001b(B\u001b[?25lx\u001b[?25h', 'x'],
  ['\u001b[999999999Gx', `${' '.repeat(2000)}x`],
]

test('the cursor moves as in a terminal', () => {
  for (const [text, shown] of moved) assert.is(plain(text), shown, JSON.stringify(text))
})

test('colours: sixteen, the palette, and all of them', () => {
  const pieces = ['a', '[1;31mb', '[39mc', '[0md', '[38;5;208me', '[48;2;1;2;300mf', '[96mg']
  const [line = []] = terminalLines(pieces.join('\u001b'))
  assert.equal(line, [
    { text: 'a', style: {} },
    { text: 'b', style: { bold: true, fg: 1 } },
    { text: 'c', style: { bold: true } },
    { text: 'd', style: {} },
    { text: 'e', style: { fg: 208 } },
    { text: 'f', style: { fg: 208, bg: '#0102ff' } },
    { text: 'g', style: { fg: 14, bg: '#0102ff' } },
  ])
})

test('the work grows with the length alone', () => {
  const pieces = [
    '\r', '\u001b[K', 'a\r', '\u001b[1A', 'x\b', '\u001b[31m', '\t\r', '\u001b]', '\u001b[1K', '\u001b[9999Cx\r',
    '\u001b[2Jx', '\n\u001b[A', '\u001b[999C\u001b[1K', '\u001b[J\n', '\u001b[', '\u001b[38;5;', 'long text',
  ]
  for (const piece of pieces) {
    const stepsOf = (count: number): number => {
      const meter = { steps: 0 }
      terminalLines(piece.repeat(count), meter)
      return meter.steps
    }
    const [short, long] = [stepsOf(2000), stepsOf(8000)]
    assert.ok(long <= short * 4.2 + 4000, `${JSON.stringify(piece)}: ${short} and ${long}`)
  }
})

test('characters that cannot be seen become marks; letters from right to left stay', () => {
  const parts = [{ text: 'a' }, { mark: 'RLO' }, { text: 'b' }, { mark: 'U+0007' }, { mark: 'ZWSP' }]
  assert.equal(visible('a\u202eb\u0007\u200b'), parts)
  assert.equal(visible('שלום עולם\tالعربية\n👩‍💻'), [{ text: 'שלום עולם\tالعربية\n👩‍💻' }])
  assert.equal(visible('line\r\nnext'), [{ text: 'line' }, { text: '\nnext' }])
  for (let code = 0x202a; code <= 0x202e; code++) assert.ok('mark' in (visible(String.fromCharCode(code))[0] ?? {}))
  for (let code = 0x2066; code <= 0x2069; code++) assert.ok('mark' in (visible(String.fromCharCode(code))[0] ?? {}))
})

test('a long text is cut in its middle, and never through a character', () => {
  assert.equal(excerptOf('short', 10), { head: 'short', omitted: 0, tail: '' })
  for (let limit = 2; limit < 20; limit++) {
    const text = '👩x'.repeat(20)
    const { head, omitted, tail } = excerptOf(text, limit)
    assert.is(head.length + omitted + tail.length, text.length)
    assert.ok(!/\p{Cs}/u.test(head + tail), `${limit}`)
    assert.ok(text.startsWith(head) && text.endsWith(tail))
  }
  assert.equal(rowsOf('abcde\n\nf', 2), ['ab', 'cd', 'e', '', 'f'])
})

test.run()
