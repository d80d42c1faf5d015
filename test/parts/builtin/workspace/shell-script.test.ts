/** The mark at the end of a command, and the files of a command in the shell's folder. */
import * as assert from 'uvu/assert'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseReport, statusIn } from '../../../../src/parts/builtin/workspace/shell-script.ts'
import { suite } from '../../../support/suite.ts'
import { sweep, withTerminal } from './terminals.ts'

const test = suite('workspace/shell-script')
test.after(sweep)

test('a mark tells the status of the command whose nonce it carries, and of no other', () => {
  assert.is(statusIn('own;0', 'own'), 0)
  assert.is(statusIn('own;130', 'own'), 130)
  for (const mark of ['other;0', ';0', '0', 'own', 'own;', 'own;-1', 'own;x', 'own;1234', 'ownother;0']) {
    assert.is(statusIn(mark, 'own'), undefined, mark)
  }
})

test('a report counts when it is written to its end', () => {
  const whole = '3\u00001\u0000/work\u0000/usr/bin/python3\u0000eva\u0000'
  assert.equal(parseReport(whole), {
    exitCode: 3, pid: 1, workingDir: '/work', python: '/usr/bin/python3', username: 'eva',
  })
  assert.is(parseReport(whole.slice(0, -1)), undefined)
  assert.is(parseReport(''), undefined)
})

test('a program that prints a mark does not end its command', () => withTerminal({}, async ({ run }) => {
  const { output, exitCode } = await run(`printf '\\e]agent-server;x;7\\a'; echo before; sleep 1; echo after`)
  assert.equal([output, exitCode], ['before\nafter\n', 0])
}))

test('nothing of a command stays in the folder of the shell', () => withTerminal({}, async ({ run, runtimeDir }) => {
  const path = join(runtimeDir, 'seen')
  await run(`ls -R ${runtimeDir} >${path}; : a-word-of-the-command`)
  const left = filesBelow(runtimeDir).filter((file) => file !== path)
  assert.ok(left.length > 0, 'the shell keeps files of its own')
  for (const file of left) assert.not.match(readFileSync(file, 'utf8'), 'a-word-of-the-command')
}))

function filesBelow(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return paths.filter((path) => statSync(path).isFile())
}

test.run()
