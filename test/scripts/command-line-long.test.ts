/** The command lines of the scripts, and that each npm script with a program of its own uses them. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { readCommandLine, type Script } from '../../scripts/command-line.ts'
import { suite } from '../support/suite.ts'

const test = suite('scripts/command-line')
const root = fileURLToPath(new URL('../../../', import.meta.url))

const script: Script<'only' | 'list'> = {
  command: 'npm run work',
  help: 'Does the work.',
  words: { name: 'NAME', help: 'The names', choices: ['a', 'b'], limit: 2 },
  flags: { only: { value: 'TEXT', isRepeated: true, help: 'A part' }, list: { help: 'Print all' } },
}

function problemOf(args: readonly string[], of: Script<string> = script): string {
  const reading = readCommandLine(of, args)
  return reading.kind === 'refused' ? reading.problem : reading.kind
}

test('reads words, switches and values, in any order', () => {
  const args = ['a', '--only', 'x', '--list', '--only=y', 'b']
  assert.equal(readCommandLine(script, args), {
    kind: 'run', words: ['a', 'b'], flags: { only: ['x', 'y'], list: [''] },
  })
  assert.equal(readCommandLine(script, []), { kind: 'run', words: [], flags: {} })
})

test('prints a help with every flag', () => {
  const text = [
    'Does the work.', '', 'Usage: npm run work -- [NAME ...] [--only TEXT] ... [--list]', '',
    '  NAME         The names', '  --only TEXT  A part', '  --list       Print all',
    '  --help       Print this help', '',
  ].join('\n')
  assert.equal(readCommandLine(script, ['--help']), { kind: 'help', text })
  assert.equal(readCommandLine(script, ['a', '-h', '--list']), { kind: 'help', text })
})

test('refuses in one line: unknown flags, missing and surplus values, words that are not taken', () => {
  const end = '. See: npm run work -- --help'
  assert.is(problemOf(['--onyl', 'x']), `Could not use --onyl: there is no such flag${end}`)
  assert.is(problemOf(['-x']), `Could not use -x: there is no such flag${end}`)
  assert.is(problemOf(['--only']), `Could not use --only: expected TEXT${end}`)
  assert.is(problemOf(['--only=']), `Could not use --only: expected TEXT${end}`)
  assert.is(problemOf(['--list=yes']), `Could not use --list: it takes no value${end}`)
  assert.is(problemOf(['c']), `Could not use "c": expected a, b${end}`)
  assert.is(problemOf(['a', 'b', 'a']), `Could not use "a": no more words are taken${end}`)
  assert.is(problemOf(['x'], { command: 'npm run bare', help: '' }), `Could not use "x": no more words are taken. ` +
    'See: npm run bare -- --help')
  const needy: Script<never> = { command: 'node a.js', help: '', words: { name: 'FOLDER', help: '', isRequired: true } }
  assert.is(problemOf([], needy), 'Could not use the command: expected FOLDER. See: node a.js --help')
})

const manifest = readFileSync(`${root}package.json`, 'utf8')
const programs = new Set([...manifest.matchAll(/exec node (dist\/scripts\/[\w-]+\.js)/g)].map(([, path = '']) => path))

/** Arguments of Node for a script with this body. */
function evaluating(body: string): readonly string[] {
  const start = "import { commandLine } from './dist/scripts/command-line.js'; commandLine({ command: 'work', help: '' })"
  return ['--input-type=module', '--eval', `${start}\n${body}`]
}

/** Runs a script whose output has no reader. Returns its exit code and its standard error. */
async function withoutReader(body: string): Promise<unknown> {
  const child = spawn(process.execPath, evaluating(body), { cwd: root })
  child.stdout.destroy()
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()))
  const [code] = await once(child, 'close')
  return [code, words]
}

const unfinished = 'setInterval(() => process.stdout.write("more"), 1000)'

test('a script whose output has no reader ends without a message, by its own code when its work was done', async () => {
  assert.equal(await withoutReader('process.stdout.write("text"); process.exitCode = 3'), [3, ''])
  assert.equal(await withoutReader(`process.stdout.write("text"); ${unfinished}`), [1, ''])
})

test('a script that cleans up after SIGTERM does so when its output has no reader', async () => {
  const cleaning = 'process.once("SIGTERM", () => { process.stderr.write("cleaned"); process.exit(143) })'
  assert.equal(await withoutReader(`${cleaning}; process.stdout.write("text"); ${unfinished}`), [143, 'cleaned'])
})

test('a cleanup goes on to its end while it writes to an output without a reader', async () => {
  const cleaning = `process.once("SIGTERM", async () => {
    for (let left = 20; left > 0; left--) {
      process.stdout.write("more")
      await new Promise(setImmediate)
    }
    process.stderr.write("cleaned")
    process.exit(143)
  })`
  assert.equal(await withoutReader(`${cleaning}; process.stdout.write("text"); ${unfinished}`), [143, 'cleaned'])
})

test('output that cannot be written, but for lack of a reader, is a failure with a line of its own', () => {
  const body = 'process.stdout.write("text"); process.exitCode = 0'
  for (const args of [[], ['--help']]) {
    const { status, stderr } = spawnSync(process.execPath, [...evaluating(body), '--', ...args], {
      cwd: root, encoding: 'utf8', stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    assert.is(status, 1)
    assert.match(stderr, /^Could not write the output: ENOSPC.*\n$/)
  }
})

test('package.json has the programs of the next tests', () => assert.ok(programs.size >= 13))

for (const program of programs) {
  test(`${program} prints its help, and refuses an unknown flag in one line`, () => {
    const help = spawnSync(process.execPath, [program, '--help'], { cwd: root, encoding: 'utf8' })
    assert.equal([help.status, help.stderr], [0, ''])
    assert.match(help.stdout, /^(?:.+\n)*.+\.\n\nUsage: npm .*\n\n(?: {2}\S.*\n)* {2}--help .*\n$/)
    const refused = spawnSync(process.execPath, [program, '--no-such-flag'], { cwd: root, encoding: 'utf8' })
    assert.equal([refused.status, refused.stdout], [2, ''])
    assert.match(refused.stderr, /^Could not use --no-such-flag: there is no such flag\. See: npm .* -- --help\n$/)
  })
}

test.run()
