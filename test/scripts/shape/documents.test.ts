/** Links, citations, paths and widths of Markdown files. */
import * as assert from 'uvu/assert'
import { checkDocuments } from '../../../scripts/shape/documents.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/documents')

const others = new Map([
  ['src/ws/README.md', '# Sockets\n\n## Limits, and `what` else\n\n## Again\n\n## Again\n\n```\n## No heading\n```\n'],
  ['src/DECISIONS.md', '## 6. Durable\n'],
])
const paths = new Set(['README.md', 'LICENSE', 'src/ws/README.md', 'src/ws/parser.ts', 'src/DECISIONS.md'])

/** Returns the findings about one document, each as its line and its message. */
function find(text: string, path = 'README.md'): string[] {
  const findings = checkDocuments(new Map([...others, [path, text]]), paths)
  return findings.filter(({ file }) => file === path).map(({ line, message }) => `${line} ${message}`)
}

const sound = [
  '[a](src/ws/README.md)', '[a](src/ws/)', '[a](LICENSE)', '[a](https://example.org/x)',
  '[a](src/ws/README.md#limits-and-what-else)',
  '[a](src/ws/README.md#again-1)', '# One two\n[a](#one-two)', '`[a](nothing.md)`', '```\n[a](nothing.md)\n```',
  '`src/ws/parser.ts`',
  '`src/ws/parser`', '`src/ws/`', '`ws/parser.ts`',
  '`parser.ts`', '`workspace/a.md`', '`dist/src/cli/main.js`', '`src/parts/<name>/`', 'decisions 6',
  '[decisions 9](https://example.org)',
  `([a b](https://example.org/${'x'.repeat(120)})).`, `| ${'x'.repeat(200)} |`,
  `\`\`\`\n${'x '.repeat(100)}\n\`\`\``,
  `https://example.org/${'x'.repeat(120)}`,
]
for (const text of sound) test(`takes ${text.slice(0, 60)}`, () => assert.equal(find(text), []))

const broken: readonly (readonly [text: string, said: string])[] = [
  ['[a](src/ws/READ.md)', '1 the link src/ws/READ.md leads to no file'],
  ['a\n\n[a](../LICENSE)', '3 the link ../LICENSE leads to no file'],
  ['[a](src/ws/README.md#no-heading)', '1 the link src/ws/README.md#no-heading leads to no heading'],
  ['[a](#nowhere)', '1 the link #nowhere leads to no heading'],
  ['[a](LICENSE#here)', '1 the link LICENSE#here leads to no heading'],
  ['`src/ws/nothing.ts`', '1 there is no src/ws/nothing.ts'],
  ['```\nx\n```\nsee `test/nothing`', '4 there is no test/nothing'],
  ['`ws/nothing.ts` `ws/parser.ts`', '1 there is no ws/nothing.ts'],
  ['a\nb (decisions 7)', '2 "decisions 7": src/DECISIONS.md has no heading 7'],
  ['word '.repeat(25), '1 125 columns: wrap the line (limit 120)'],
  [`${'word '.repeat(22)}[a](https://example.org/a/long/address)`, '1 149 columns: wrap the line (limit 120)'],
]
for (const [text, said] of broken) test(`refuses ${text.slice(0, 60)}`, () => assert.equal(find(text), [said]))

test('follows a link from the folder of its document', () => {
  assert.equal(find('[a](../../LICENSE) [b](parser.ts)', 'src/ws/notes.md'), [])
  assert.equal(find('[a](src/ws/parser.ts)', 'src/ws/notes.md'), ['1 the link src/ws/parser.ts leads to no file'])
})

test.run()
