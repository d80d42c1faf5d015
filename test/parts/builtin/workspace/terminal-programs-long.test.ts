/** Programs that use a terminal as a person would. A program that is not installed is skipped by name. */
import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bestKind, sweep, withTerminal, type TestTerminal } from './terminals.ts'

const test = suite('workspace/terminal-programs')
test.after(sweep)

function using(program: string, what: string, body: (t: TestTerminal) => Promise<void>): void {
  const name = `${program}: ${what}`
  if (!isInstalled(program)) return test.skip(name, `there is no ${program}`)
  if (bestKind === 'pipes') return test.skip(name, 'there is no pseudo-terminal')
  test(name, () => withTerminal({ idleMs: 700 }, body))
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

/** Reads on until the text has come: a loaded machine may take longer than a call. */
async function expectText(t: TestTerminal, first: { output: string }, wanted: RegExp): Promise<void> {
  let text = first.output
  const end = Date.now() + 30_000
  while (!wanted.test(text) && Date.now() < end) text += (await t.run('', { timeoutMs: 300 })).output
  assert.match(text, wanted)
}

using('python3', 'an interactive interpreter keeps its state, is interrupted and left', async (t) => {
  await expectText(t, await t.run('python3'), />>> $/)
  await expectText(t, await t.type('x = 20 + 1'), />>> $/)
  await expectText(t, await t.type('print(x * 2)'), /42\n>>> $/)
  await t.type('while True: pass\n')
  await expectText(t, await t.type('C-c'), /KeyboardInterrupt\n>>> $/)
  // Python before 3.13 remembers the interruption in its exit code.
  assert.not.equal((await t.type('C-d', { timeoutMs: 20_000 })).exitCode, -1)
  assert.is((await t.run('echo next')).output, 'next\n')
})

using('less', 'shows pages, moves with keys and is left', async (t) => {
  writeFileSync(join(t.workingDir, 'lines'), Array.from({ length: 500 }, (_, index) => `line ${index + 1}\n`).join(''))
  await expectText(t, await t.run('less lines'), /line 49\n/)
  await expectText(t, await t.type('PGDN'), /line 98\n/)
  await expectText(t, await t.type('C-f'), /line 147\n/)
  const left = await t.type('q', { timeoutMs: 20_000 })
  assert.is(left.exitCode, 0)
})

using('vi', 'edits a file and is left', async (t) => {
  await t.run('vi note')
  await t.type('ihello')
  await t.type('ESC')
  const left = await t.type(':wq', { timeoutMs: 20_000 })
  assert.is(left.exitCode, 0)
  assert.match(readFileSync(join(t.workingDir, 'note'), 'utf8'), /^hello\n/)
  assert.is((await t.run('echo next')).output, 'next\n')
})

using('top', 'runs until it is interrupted', async (t) => {
  const shown = await t.run('top -d 1', { timeoutMs: 1500 })
  assert.ok(shown.isTimeout)
  assert.match(shown.output, /PID +USER/)
  await t.type('C-c')
  assert.is((await t.run('echo next')).output, 'next\n')
})

using('git', 'does not stop at a pager', async ({ run }) => {
  const identity = '-c user.name=a -c user.email=a@example.com'
  const result = await run(
    `git init -q . && for i in $(seq 60); do git ${identity} commit -q --allow-empty -m "commit $i"; done; git log ` +
      '--oneline',
    { timeoutMs: 50_000 },
  )
  assert.is(result.exitCode, 0)
  assert.match(result.output, /commit 1\n$/)
})

using('bash', 'a stopped job is continued and ended', async (t) => {
  await t.run('sleep 100', { timeoutMs: 300 })
  const stopped = await t.type('C-z', { timeoutMs: 20_000 })
  assert.is(stopped.exitCode, 148)
  assert.match((await t.run('jobs')).output, /Stopped +sleep 100/)
  await t.run('fg', { timeoutMs: 300 })
  assert.is((await t.type('C-c', { timeoutMs: 20_000 })).exitCode, 130)
})

using('bash', 'a shell in the shell is used and left', async (t) => {
  await t.run('bash --norc')
  await expectText(t, await t.type('echo $((40 + 2))'), /^42$/m)
  assert.is((await t.type('exit 4', { timeoutMs: 20_000 })).exitCode, 4)
})

using('bash', 'a program that ignores Ctrl-C ends with a reset', async (t) => {
  await t.run(`bash -c "trap '' INT; touch ready; while :; do sleep 0.1; done"`, { timeoutMs: 500 })
  const ignored = await t.type('C-c', { timeoutMs: 500 })
  assert.ok(ignored.isTimeout)
  assert.ok(existsSync(join(t.workingDir, 'ready')))
  assert.is((await t.run('echo new', { reset: true })).output, 'new\n')
})

test.run()
