/** The same promises on every kind of terminal. */
import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TerminalKind } from '../../../../src/process/pty.ts'
import { isAlive, until } from '../../../support/processes.ts'
import { hasKind, pressInterrupt, sweep, withTerminal } from './terminals.ts'

const test = suite('workspace/terminal-kinds')
test.after(sweep)

const kinds: readonly TerminalKind[] = ['script', 'python', 'pipes']
const works = new Map(await Promise.all(kinds.map(async (kind) => [kind, await hasKind(kind)] as const)))

for (const kind of kinds) {
  const on = (what: string, body: () => Promise<void>): void => {
    if (works.get(kind)) test(`${kind}: ${what}`, body)
    else test.skip(`${kind}: ${what}`, `there is no terminal by ${kind}`)
  }

  on('gives the output and exit code of commands and keeps their state', () => withTerminal({ kind }, async (
    { run, workingDir },
  ) => {
    const first = await run('mkdir sub; cd sub; A=1; echo out; echo err >&2; (exit 3)')
    assert.is(first.output, 'out\nerr\n')
    assert.is(first.exitCode, 3)
    assert.is((await run('echo $? $A; pwd')).output, `3 1\n${workingDir}/sub\n`)
  }))

  on('runs a command of 10,000 bytes with multi-line text and quotes', () => withTerminal({ kind }, async ({ run }) => {
    const text = `it's "quoted" \\ $A\n`.repeat(600)
    assert.is((await run(`cat <<'END'\n${text}END`)).output, text)
  }))

  on('types a line for a program', () => withTerminal({ kind, idleMs: 500 }, async ({ run, type }) => {
    const asked = await run('printf "name? "; read -r name; echo "hello $name"')
    assert.is(asked.output, 'name? ')
    assert.is(asked.exitCode, -1)
    const answered = await type('Eva')
    assert.is(answered.output, 'hello Eva\n')
    assert.is(answered.exitCode, 0)
  }))

  on('interrupts a program with C-c and keeps the shell', () => withTerminal({ kind }, async ({ run, type }) => {
    await run('A=kept; while :; do sleep 0.1; done', { timeoutMs: 300 })
    const interrupted = await pressInterrupt({ type })
    assert.is(interrupted.exitCode, 130)
    assert.is((await run('echo $A')).output, 'kept\n')
  }))

  on('ends what an aborted call has started', () => withTerminal({ kind }, async ({ run, workingDir }) => {
    const controller = new AbortController()
    const path = join(workingDir, 'far')
    const running = run(`trap '' INT; ${leavesSession}; sleep 100`, { signal: controller.signal })
    await until(() => existsSync(path) && readFileSync(path, 'utf8') !== '')
    controller.abort(new Error('stop'))
    assert.is(await running.catch((error) => error.message), 'stop')
    assert.not(isAlive(Number(readFileSync(path, 'utf8'))))
    assert.is((await run('echo next')).output, 'next\n')
  }))

  on('ends everything with a reset', () => withTerminal({ kind }, async ({ run, workingDir }) => {
    await run(leavesSession)
    const pid = Number(readFileSync(join(workingDir, 'far'), 'utf8'))
    assert.ok(isAlive(pid))
    assert.is((await run('echo new', { reset: true })).output, 'new\n')
    assert.not(isAlive(pid))
  }))

  on('starts a new shell after exit', () => withTerminal({ kind }, async ({ run }) => {
    const result = await run('A=1; echo bye; exit 3')
    assert.is(result.output, 'bye\n')
    assert.is(result.exitCode, 3)
    assert.is((await run('echo "[$A]"')).output, '[]\n')
  }))

  on('tells the signal that ended the shell in its exit code', () => withTerminal({ kind }, async ({ run }) => {
    assert.is((await run('kill -9 $$')).exitCode, 137)
  }))

  on('finds the end of a command whose output goes elsewhere', () => withTerminal({ kind }, async ({ run }) => {
    assert.is((await run('exec 3>&1 >out 2>&1; echo a')).exitCode, 0)
    assert.is((await run('exec >&3 2>&3; cat out')).output, 'a\n')
  }))

  on('takes 5 MB of output', () => withTerminal({ kind }, async ({ run }) => {
    const result = await run('yes | head -c 5000000; echo end', { timeoutMs: 50_000 })
    assert.match(result.output, /\ny\nend\n$/)
  }))

  on('says what is in the way when the program of the kind is missing', () => withTerminal(
    { kind, env: { PATH: '/no/such/folder' } },
    async ({ run }) => {
      assert.match(await run('true').catch((error) => error.message), /^Cannot start /)
    },
  ))
}

test('pipes: says which keys cannot be pressed', () => withTerminal({ kind: 'pipes', idleMs: 200 }, async (
  { run, type },
) => {
  await run('cat')
  const refused = await type('C-d')
  assert.ok(refused.isRefused)
  assert.match(refused.note, /no pseudo-terminal/)
  assert.is((await type('C-c')).exitCode, 130)
}))

const leavesSession = "setsid sh -c 'echo $$ >far; exec sleep 100' & until [ -s far ]; do sleep 0.05; done"

test.run()
