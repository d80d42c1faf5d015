import * as assert from 'uvu/assert'
import { checkCapabilities, checkStart, checkUnusedNeeds } from '../../../scripts/shape/capabilities.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('shape/capabilities')

function linesOf(code: string, path = 'src/parts/docs/start.ts'): number[] {
  return checkCapabilities(readSource(path, `${code}\n`)).map(({ line }) => line)
}

test('lets a part name the capabilities that it takes', () => {
  for (const code of [
    "import type { Core, Use } from '../../capabilities.ts'",
    "import { type Core } from '../../capabilities.ts'",
    "function start({ log }: Pick<Core, 'log'>) {}",
    "type Needs = Pick<\n  Core,\n  | 'log' | 'clock'\n>",
    "function limitsOf(config: Core['config']) {}",
    'const load = (): Promise<PartModule> => import("./start.ts")',
  ]) assert.equal(linesOf(code), [], code)
})

test('finds a part that takes all capabilities', () => {
  for (const code of [
    'function start(core: Core) {}',
    'function start(core: Readonly<Core>) {}',
    'interface Needs extends Core { }',
    'type Needs = Pick<Core, keyof Core>',
    'type Needs = Pick<Core, Names>',
    "type Needs = Omit<Core, 'log'>",
    'type One = Core[Name]',
    "import type { Core as All } from '../../capabilities.ts'",
    "type All = import('../../capabilities.ts').Core",
    "const start: PartModule['start'] = (core) => ({})",
    'function start(): StartedPart {}',
  ]) assert.ok(linesOf(code).length > 0, code)
})

test('asks files of parts only', () => {
  assert.equal(linesOf('function start(core: Core) {}', 'src/app.ts'), [])
})

test('finds a need that no other file of the part names', () => {
  const part = readSource('src/parts/docs/part.ts', "const docs = { needs: ['log', 'clock'], log: 1, clock: 2 }\n")
  const start = readSource('src/parts/docs/start.ts', 'export function start({ log }) {}\n')
  const other = readSource('src/parts/other/start.ts', 'export function start({ clock }) {}\n')
  const messages = checkUnusedNeeds([part, start, other]).map(({ message }) => message)
  assert.equal(messages, ['no file of the part uses "clock": take it away'])
})

test('finds a start of a part without the types of its description', () => {
  const linesIn = (code: string, path: string): number[] =>
    checkStart(readSource(path, `${code}\n`)).map(({ line }) => line)
  const start = 'src/parts/docs/start.ts'
  assert.equal(linesIn('export function start(core: Lent<typeof docs>): Started<typeof docs> {}', start), [])
  assert.equal(linesIn('export function start(): Started<typeof docs> {}', start), [])
  assert.equal(linesIn('export function start(core: Lent<typeof docs>) {}', start), [1])
  assert.equal(linesIn("export function start(core: Pick<Core, 'log'>): Started<typeof docs> {}", start), [1])
  assert.equal(linesIn('export function start(core) {}', 'src/parts/docs/other.ts'), [])
})

test.run()
