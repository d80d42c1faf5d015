import * as assert from 'uvu/assert'
import { parseInline, type Inline } from '../../../../src/parts/console/page/conversation/markdown-inline.ts'
import { MarkdownStream } from '../../../../src/parts/console/page/conversation/markdown-stream.ts'
import { parseMarkdown, type Block } from '../../../../src/parts/console/page/conversation/markdown.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('parts/console/conversation: Markdown')

/** The parts of which hostile and half-written texts are made. */
const pieces = [
  '[', '](', '](a', '*', '**', '_a_', '`', '``', '![', '<', '&amp;', '> ', '- ', '  - ', '1. ', '|', '|-', '\\', '~~',
  'https://', '(', ')', '"', '[a](b "', '\n', '\n\n', '    ', '```\n', '#', '* a\n ', '- \n', '[a](', 'x[', '***', '\t',
  '[a](b \'', 'word ', '[x] ', '<br>', 'é', '\r\n',
]

/** The same texts at each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * below)
  }
}

function plain(inlines: readonly Inline[]): string {
  return inlines.map((inline) => {
    switch (inline.type) {
      case 'text': return inline.text
      case 'code': return `<code>${inline.text}</code>`
      case 'break': return '<br>'
      case 'image': return `<img ${inline.src} ${inline.alt}>`
      case 'link': return `<a ${inline.href}>${plain(inline.children)}</a>`
      default: return `<${inline.type}>${plain(inline.children)}</${inline.type}>`
    }
  }).join('')
}

const inline: readonly (readonly [text: string, shown: string])[] = [
  ['a *b* **c** ***d*** ~~e~~ _f_ __g__', 'a <em>b</em> <strong>c</strong> <strong><em>d</em></strong> <strike>e</strike> <em>f</em> <strong>g</strong>'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['`a *b*` and ``a ` b``', '<code>a *b*</code> and <code>a ` b</code>'],
  ['an open ` tick and *star', 'an open ` tick and *star'],
  ['[a *b*](https://x.y/z_(q) "t")!', '<a https://x.y/z_(q)>a <em>b</em></a>!'],
  ['[a](javascript:alert(1)) [b](data:text/html,x)', '[a](javascript:alert(1)) [b](data:text/html,x)'],
  ['[c](//x.y) [d](JaVaScRiPt:x)', '[c](//x.y) [d](JaVaScRiPt:x)'],
  ['[a](java\nscript:alert(1))', '[a](java\nscript:alert(1))'],
  ['<https://a.b> https://c.d/e. (https://f.g)', '<a https://a.b>https://a.b</a> <a https://c.d/e>https://c.d/e</a>. (<a https://f.g>https://f.g</a>)'],
  ['![alt](https://x/y.png) ![](javascript:x)', '<img https://x/y.png alt> <img javascript:x >'],
  ['<script>alert(1)</script> <img src=x onerror=y>', '<script>alert(1)</script> <img src=x onerror=y>'],
  ['a\\*b\\* &lt;i&gt; &amp;lt; &nope; a<br>b', 'a*b* <i> &lt; &nope; a<br>b'],
  ['[[nested](https://a.b)](https://c.d)', '[<a https://a.b>nested</a>](<a https://c.d>https://c.d</a>)'],
]

test('inline parts: what is no link or mark is text', () => {
  for (const [text, shown] of inline) assert.is(plain(parseInline(text)), shown, text)
})

function outline(block: Block): unknown {
  switch (block.type) {
    case 'paragraph': return plain(block.children)
    case 'heading': return [`h${block.level}`, plain(block.children)]
    case 'code': return ['code', block.language, block.text]
    case 'quote': return ['quote', block.children.map(outline)]
    case 'list': {
      const items = block.items.map(({ checked, children }) => [checked, children.map(outline)])
      return ['list', block.start, items]
    }
    case 'table': return ['table', block.align, [block.head, ...block.rows].map((row) => row.map(plain))]
    case 'rule': return 'rule'
  }
}

const blocks: readonly (readonly [text: string, shown: readonly unknown[]])[] = [
  ['# A #\n\ntext\nmore\n\n---\n#no', [['h1', 'A'], 'text\nmore', 'rule', '#no']],
  ['- a\n  - b\n    c\n- [x] d\n\n1. e\n2) f', [
    ['list', undefined, [[undefined, ['a', ['list', undefined, [[undefined, ['b\nc']]]]]], [true, ['d']]]],
    ['list', 1, [[undefined, ['e']]]], ['list', 2, [[undefined, ['f']]]],
  ]],
  ['```ts\nlet a\n  b\n```\nx\n~~~\nopen', [['code', 'ts', 'let a\n  b'], 'x', ['code', '', 'open']]],
  ['| a | b |\n|---|:-:|\n| 1 \\| 2 | `x` |\n\nafter', [
    ['table', [undefined, 'center'], [['a', 'b'], ['1 | 2', '<code>x</code>']]], 'after',
  ]],
  ['> a\n> > b\n\nc', [['quote', ['a', ['quote', ['b']]]], 'c']],
  ['a | b\nno table', ['a | b\nno table']],
  ['- a\n\n  b\n\nc', [['list', undefined, [[undefined, ['a', 'b']]]], 'c']],
  ['    indented\n\n      more', [['code', '', 'indented\n\n  more']]],
]

test('blocks', () => {
  for (const [text, shown] of blocks) assert.equal(parseMarkdown(text).map(outline), shown, text)
})

test('deep nesting ends, and the result is no deeper than its limits', () => {
  const depth = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0
    return 1 + Math.max(0, ...Object.values(value).map(depth))
  }
  for (const piece of ['> ', '- ', '*a ', '[', '**a', '1. ', '> - ']) {
    assert.ok(depth(parseMarkdown(piece.repeat(20_000))) < 150, piece)
  }
})

test('the work grows with the length alone, for every pair of pieces', () => {
  for (const first of pieces) {
    for (const second of ['', ...pieces]) {
      const stepsOf = (length: number): number => {
        const meter = { steps: 0 }
        parseMarkdown((first + second).repeat(length / (first + second).length), meter)
        return meter.steps
      }
      const [short, long] = [stepsOf(4000), stepsOf(16_000)]
      assert.ok(long <= short * 4.8 + 1000, `${JSON.stringify(first + second)}: ${short} and ${long} steps`)
      assert.ok(long < 16_000 * 40, `${JSON.stringify(first + second)}: ${long} steps`)
    }
  }
})

test('a text that comes in pieces gives the blocks of the whole text, and settled blocks stay', () => {
  const next = numbers(7)
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 1 + next(60) }, () => pieces[next(pieces.length)]).join('').replaceAll('\r', '')
    const stream = new MarkdownStream()
    const settled: Block[] = []
    let open: readonly Block[] = []
    for (let at = 0; at < text.length;) {
      const size = 1 + next(6)
      const growth = stream.push(text.slice(at, at + size))
      at += size
      settled.push(...growth.settled)
      open = growth.open
    }
    assert.equal([...settled, ...open], parseMarkdown(text), JSON.stringify(text))
  }
})

test('a growing text is parsed from its last blocks only', () => {
  const meter = { steps: 0 }
  const stream = new MarkdownStream(meter)
  for (let at = 0; at < 2000; at++) stream.push(`Paragraph ${at} with *words*.\n\n`)
  assert.ok(meter.steps < 2000 * 400, `${meter.steps} steps`)
})

test.run()
