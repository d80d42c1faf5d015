import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { createTerminalText } from '../../../../src/parts/builtin/workspace/terminal-text.ts'

const test = suite('workspace/terminal-text')
const ESC = '\x1b'

interface Read {
  readonly text: string
  readonly marks: readonly string[]
}

function read(chunks: readonly string[]): Read {
  const terminal = createTerminalText({ markPrefix: 'ours;' })
  let text = ''
  const marks: string[] = []
  for (const chunk of chunks) {
    const piece = terminal.push(chunk)
    text += piece.text
    marks.push(...piece.marks)
  }
  return { text: text + terminal.takeLine(), marks }
}

const vectors: [string, string, string, string[]?][] = [
  ['plain lines', 'a\r\nb\n', 'a\nb\n'],
  ['an open line', 'name? ', 'name? '],
  ['a tab', 'a\tb', 'a\tb'],
  ['vertical tabulator and form feed', 'a\vb\fc', 'a\nb\nc'],
  ['a line written over in full', 'abc\rxyz', 'xyz'],
  ['a line written over in part', 'abc\rx', 'xbc'],
  ['backspaces', 'abc\b\bx', 'axc'],
  ['a backspace too many', '\b\ba', 'a'],
  ['bells and other controls', 'a\x07\x00\x01\x7f\x9bb', 'ab'],
  ['colours', `${ESC}[1;31mred${ESC}[m`, 'red'],
  ['private modes', `${ESC}[?2004h> ${ESC}[?25l`, '> '],
  ['the rest of the line erased', `abc\r${ESC}[K`, ''],
  ['the rest of the line erased by its number', `abc\b${ESC}[0Kx`, 'abx'],
  ['the line erased up to the cursor', `abc\b${ESC}[1K`, '  c'],
  ['the whole line erased', `abc\b${ESC}[2Kx`, '  x'],
  ['an erasure of an unknown part', `abc${ESC}[7K`, 'abc'],
  ['the cursor moved left and right', `abcd${ESC}[3D1${ESC}[Cx`, 'a1cx'],
  ['the cursor moved beyond the ends', `ab${ESC}[99Dx${ESC}[99Cy`, 'xby'],
  ['the cursor moved to a column', `abc${ESC}[2Gx${ESC}[0Gy`, 'yxc'],
  ['characters deleted', `abcd\r${ESC}[2P`, 'cd'],
  ['characters erased', `abcd\r${ESC}[2X`, '  cd'],
  ['room made', `ad${ESC}[D${ESC}[2@bc`, 'abcd'],
  ['a screen painted', `${ESC}[2J${ESC}[1;1Hone${ESC}[2;1Htwo${ESC}[3d${ESC}[Athree${ESC}[4Bfour`,
    'one\ntwo\nthree\nfour'],
  ['a title ended by BEL', `${ESC}]0;title\x07text`, 'text'],
  ['a title ended by ST', `${ESC}]0;title${ESC}\\text`, 'text'],
  ['device control, privacy message and others',
    `${ESC}Pq1${ESC}\\a${ESC}^x${ESC}\\b${ESC}_y${ESC}\\c${ESC}Xz${ESC}\\d`, 'abcd'],
  ['a character set chosen', `${ESC}(Ba${ESC})0b`, 'ab'],
  ['single escapes', `${ESC}=${ESC}>${ESC}7a${ESC}8`, 'a'],
  ['a sequence cancelled', `${ESC}[12\x18a${ESC}]0;x\x1ab`, 'ab'],
  ['a sequence cut off by another', `${ESC}[1${ESC}[31ma`, 'a'],
  ['control characters within a sequence', `ab${ESC}[\r1Cx`, 'ax'],
  ['our mark', `text\n${ESC}]ours;42\x07more`, 'text\nmore', ['42']],
  ['our mark after a string without an end', `${ESC}]0;title${ESC}]ours;42\x07`, '', ['42']],
  ['marks of others', `${ESC}]theirs;42\x07${ESC}Pours;42${ESC}\\`, ''],
  ['an endless string', `${ESC}]ours;${'x'.repeat(5000)}\x07a`, 'a', ['x'.repeat(1000 - 6)]],
  ['Unicode', 'a€😀\rb', 'b€😀'],
]
for (const [what, input, text, marks = []] of vectors) {
  test(`makes plain text of ${what}, wherever it is cut`, () => {
    assert.equal(read([input]), { text, marks })
    assert.equal(read(input.split('')), { text, marks })
    for (let index = 1; index < Math.min(input.length, 60); index++) {
      assert.equal(read([input.slice(0, index), input.slice(index)]), { text, marks })
    }
  })
}

test('hands a very long line on in parts', () => {
  const terminal = createTerminalText({ markPrefix: 'ours;', lineLimitChars: 10 })
  assert.is(terminal.push('0123456789').text, '')
  assert.is(terminal.push('0').text, '01234567890')
  assert.is(terminal.push('rest\n').text, 'rest\n')
})

test('counts a line that was taken as handed on', () => {
  const terminal = createTerminalText({ markPrefix: 'ours;' })
  terminal.push('name? ')
  assert.is(terminal.takeLine(), 'name? ')
  assert.is(terminal.takeLine(), '')
  assert.is(terminal.push('\rEva\n').text, 'Eva\n')
})

test.run()
