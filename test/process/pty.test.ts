import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { detectTerminalKind, isTerminalKindUsable, startOnTerminal, type TerminalKind } from '../../src/process/pty.ts'
import { makeFolder } from '../support/processes.ts'

const test = suite('process/pty')
const { folder, remove } = makeFolder()
test.after(remove)

const env = { PATH: process.env['PATH'] ?? '' }
let count = 0

function options(path: string = env.PATH) {
  return { cwd: folder, env: { ...env, PATH: path }, marker: `test/pty-${process.pid}-${++count}` }
}

const hasScript = await isTerminalKindUsable('script', options())
const hasPython = await isTerminalKindUsable('python', options())

test('chooses script where it works, else Python, else pipes', async () => {
  const other: TerminalKind = hasPython ? 'python' : 'pipes'
  assert.is(await detectTerminalKind(options()), hasScript ? 'script' : other)
  writeFileSync(join(folder, 'script'), '#!/bin/sh\nexit 1\n')
  chmodSync(join(folder, 'script'), 0o700)
  assert.is(await detectTerminalKind(options(`${folder}:${env.PATH}`)), other)
})

test('chooses pipes where there is nothing else', async () => {
  const bin = makeFolder()
  symlinkSync('/bin/sh', join(bin.folder, 'sh'))
  assert.is(await detectTerminalKind(options(bin.folder)), 'pipes')
  bin.remove()
})

const kinds: [TerminalKind, boolean][] = [['script', hasScript], ['python', hasPython], ['pipes', true]]
for (const [kind, works] of kinds) {
  const name = `${kind}: gives the program one stream for output and errors, and tells its exit code`
  if (!works) test.skip(name, `there is no terminal by ${kind}`)
  else test(name, async () => {
    const child = await startOnTerminal({
      ...options(), kind, line: 'echo out; echo err >&2; test -t 0 && echo terminal; exit 5',
    })
    const output = await text(child.stdout)
    assert.equal(output.split(/\r?\n/), kind === 'pipes' ? ['out', 'err', ''] : ['out', 'err', 'terminal', ''])
    assert.is((await child.exited).code, 5)
    await child.stop()
  })

  const starting = `${kind}: does not depend on the shell of the user`
  if (!works) test.skip(starting, `there is no terminal by ${kind}`)
  else test(starting, async () => {
    const child = await startOnTerminal({ ...options(), env: { ...env, SHELL: '/bin/false' }, kind, line: 'echo out' })
    assert.match(await text(child.stdout), /^out\r?\n$/)
    await child.stop()
  })
}

test.run()
