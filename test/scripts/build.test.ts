/**
 * The build and the start of a checkout, on a small tree with the real scripts and the real compiler: the program that
 * runs is made from the source, nothing is left of a deleted module, and a missing compiler is told in a line.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { makeFolder } from '../support/processes.ts'
import { suite } from '../support/suite.ts'

const test = suite('scripts/build')
const root = fileURLToPath(new URL('../../../', import.meta.url))
const copied = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/build.mjs', 'scripts/start.mjs',
  'scripts/join.ts',
  'scripts/join', 'scripts/shape/tokens.ts']

interface Checkout {
  path(name: string): string
  write(name: string, text: string): void
  build(...words: string[]): Run
  /** Runs the built program. */
  program(): string
  start(): Run
}

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

function inCheckout(body: (checkout: Checkout) => void, { withCompiler = true } = {}): () => void {
  return () => {
    const { folder, remove } = makeFolder()
    try {
      for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true })
      if (withCompiler) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
      const checkout = checkoutIn(folder)
      checkout.write('src/cli/main.ts', "import { word } from '../word.ts'\nprocess.stdout.write(word)\n")
      checkout.write('src/word.ts', "export const word = 'one'\n")
      checkout.write('src/index.ts', "export { word } from './word.ts'\n")
      checkout.write('test/word.test.ts', "import { word } from '../src/word.ts'\nprocess.stdout.write(word)\n")
      body(checkout)
    } finally {
      remove()
    }
  }
}

function checkoutIn(folder: string): Checkout {
  const path = (name: string): string => join(folder, name)
  const run = (...args: string[]): Run => {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: {} })
    return { code: status, stdout, stderr }
  }
  return {
    path,
    write(name, text) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
    },
    build: (...words) => run('scripts/build.mjs', ...words),
    program: () => run('dist/agent-server.js').stdout,
    start: () => run('scripts/start.mjs'),
  }
}

test(
  'builds what has changed, does nothing when nothing has, and removes what belongs to a deleted source',
  inCheckout((checkout) => {
    assert.is(checkout.build().code, 0)
    assert.is(checkout.program(), 'one')
    assert.is(statSync(checkout.path('dist/agent-server.js')).mode & 0o111, 0o111)
    const first = statSync(checkout.path('dist/agent-server.js')).mtimeMs
    assert.is(checkout.build().code, 0)
    assert.is(statSync(checkout.path('dist/agent-server.js')).mtimeMs, first, 'built again')

    checkout.write('src/word.ts', "export const word = 'two'\n")
    rmSync(checkout.path('test/word.test.ts'))
    assert.is(checkout.build().code, 0)
    assert.is(checkout.program(), 'two')
    assert.is(checkout.start().stdout, 'two')
    for (const end of ['.js', '.js.map', '.d.ts']) {
      assert.not.ok(existsSync(checkout.path(`dist/test/word.test${end}`)), end)
    }
  }),
)

test('fails for as long as the source does not compile', inCheckout((checkout) => {
  checkout.build()
  checkout.write('src/word.ts', 'export const word: string = 1\n')
  for (const _ of [1, 2]) {
    const { code, stdout } = checkout.build()
    assert.is(code, 1)
    assert.match(stdout, 'src/word.ts')
  }
}))

test('without a compiler says what to do, and fails only where a build was asked for', inCheckout((checkout) => {
  const optional = checkout.build('--if-possible')
  assert.is(optional.code, 0)
  const asked = checkout.build()
  assert.is(asked.code, 1)
  for (const { stderr } of [optional, asked]) assert.match(stderr, /^[^\n]*npm ci --include=dev[^\n]*\n$/)
  const { code, stdout, stderr } = checkout.start()
  // Node 22.18 and later run the source; `features.typescript` is not known to the types of the oldest Node.
  const stripsTypes = Boolean(Object.entries(process.features).find(([name]) => name === 'typescript')?.[1])
  assert.equal([code, stdout], stripsTypes ? [0, 'one'] : [1, ''])
  if (!stripsTypes) assert.match(stderr, /^agent-server: not built[^\n]*npm ci --include=dev[^\n]*22\.18[^\n]*\n$/)
}, { withCompiler: false }))

test(
  'comes before everything that package.json runs from dist, and nothing stands between a signal and the program',
  () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    for (const [name, command] of Object.entries(scripts)) {
      if (command.includes('dist/')) assert.match(command, /^node scripts\/build\.mjs && /, name)
    }
    for (const name of ['start', 'demo', 'bench', 'test', 'soak']) {
      assert.match(scripts[name] ?? '', /(?:^|&& )exec node [^&]*$/, name)
    }
  },
)

test.run()
