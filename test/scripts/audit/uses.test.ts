/** The lines that use an imported name, and names of other things that are no uses. */
import * as assert from 'uvu/assert'
import { powerUsesOf } from '../../../scripts/audit/surface.ts'
import { linesOfName } from '../../../scripts/audit/uses.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/uses')

const cases: readonly [name: string, text: string, lines: readonly number[]][] = [
  ['a call', 'open(a)', [1]],
  ['a value', 'const a = b ? open : c', [1]],
  ['an argument', 'a(b, open)', [1]],
  ['a shorthand member', 'a({ open })', [1]],
  ['each line once', 'open(open)\n\nopen()', [1, 3]],
  ['a call in a function with other parameters', 'function a(b: string): Promise<C> {\n  return open(b)\n}', [2]],
  ['a call behind a method of that name', 'class A {\n  open(): B {\n    return open(this)\n  }\n}', [3]],
  ['a call behind an arrow with a parameter of that name', 'const a = (open: B) => open.c\nopen(a)', [2]],
  ['a type that is imported', 'const a = (b: open) => open(b)', [1]],
  ['a call in a conditional', 'const a = b\n  ? open(c)\n  : d', [2]],
  ['no member', 'a.open(b?.open)', []],
  ['no key', 'a({ open: b })', []],
  ['no member of a type', 'interface A {\n  readonly open: B\n  open?: C\n}', []],
  ['no method of a type', 'interface A {\n  open(a: B): C\n}', []],
  ['no parameter', 'function a(open: B): C {\n  return open(open.d)\n}', []],
  ['no parameter without a type', 'a.map((open) => open.b)', []],
  ['no bare parameter', 'a.map(open => open.b)', []],
  ['no parameter of a method', 'class A {\n  #b(c: D, open: E): void {\n    open()\n  }\n}', []],
  ['no member that a parameter takes', 'const a = ({ b, open }: C) => open(b)', []],
  ['no parameter with another name of a member', 'const a = ({ b: open }: C) => open()', []],
  ['no local variable', 'function a() {\n  const open = b\n  open()\n}', []],
  ['no local variable of a pattern', 'function a() {\n  const { open } = b\n  open()\n}', []],
  ['no local variable of a list', 'for (const [a, open] of b) {\n  open()\n}', []],
]
for (const [name, text, lines] of cases) {
  test(`finds ${name}`, () => {
    assert.equal(linesOfName(readSource('src/a.ts', `${text}\n`), 'open', 0), lines)
  })
}

test('follows a power to the lines of its name in the file', () => {
  const text = [
    "import { request as httpRequest } from 'node:http'",
    "import { request as httpsRequest } from 'node:https'",
    'function send(request: Request): Sent {',
    '  return begin(request.isSecure ? httpsRequest : httpRequest, request)',
    '}',
    ...Array.from({ length: 10 }, () => 'httpRequest()'),
  ]
  const uses = powerUsesOf([readSource('src/parts/net/outbound.ts', `${text.join('\n')}\n`)])
  assert.equal(uses.map(({ door, lines }) => `${door}: ${lines.join(' ')}`), [
    'request of node:http: 1 4 6 7 8 9 10 11 12 13 14 15', 'request of node:https: 2 4',
  ])
})

test.run()
