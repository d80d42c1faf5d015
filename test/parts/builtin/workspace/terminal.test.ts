import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, until } from '../../../support/processes.ts'
import { pressInterrupt, sweep, withTerminal } from './terminals.ts'

const test = suite('workspace/terminal')
test.after(sweep)

test('gives the output and the exit code of a command', () => withTerminal({}, async ({ run }) => {
  const result = await run('echo hello; false')
  assert.equal({ ...result, note: '', report: undefined }, {
    output: 'hello\n', exitCode: 1, isTimeout: false, isRefused: false, note: '', report: undefined,
  })
}))

test('keeps folder, variables, functions, aliases and the last exit code', () => withTerminal({}, async (
  { run, workingDir },
) => {
  await run('mkdir sub && cd sub; export A=1; f() { echo "f $1"; }; alias g="f aliased"')
  const result = await run('pwd; echo $A; f x; g; (exit 7)')
  assert.is(result.output, `${workingDir}/sub\n1\nf x\nf aliased\n`)
  assert.is(result.report?.workingDir, `${workingDir}/sub`)
  assert.is((await run('echo $?')).output, '7\n')
}))

/** Starts a program in a session of its own and waits until it has said who it is. */
const leavesSession = "setsid sh -c 'echo $$ >far; exec sleep 100' & until [ -s far ]; do sleep 0.05; done"

const commands: [string, string, string, number?][] = [
  ['several lines', 'for i in 1 2\ndo\n  echo $i\ndone', '1\n2\n'],
  ['a here-document', 'cat <<END\na $((1 + 1))\nEND', 'a 2\n'],
  ['10,000 bytes', `echo ${'x'.repeat(9980)} | wc -c`, '9981\n'],
  ['single quotes', `echo 'a'"'"'b'`, "a'b\n"],
  ['a carriage return and a newline at the end', 'printf "a\\r\\nb"', 'a\nb'],
  ['a line written over', 'printf "10%%\\r20%%\\n"', '20%\n'],
  ['Unicode', 'printf "\\xe2\\x82"; sleep 0.1; printf "\\xac\\n"', '€\n'],
  ['bytes that are no text', 'printf "a\\xff\\x00\\x01b\\n"', 'a�b\n'],
  ['colours', 'printf "\\e[1;31mred\\e[0m\\n"', 'red\n'],
  ['a title', 'printf "\\e]0;title\\atext\\n"', 'text\n'],
  ['a sequence without an end', 'printf "text\\n\\e]0;never ending"', 'text\n'],
  ['marks of somebody else', 'printf "\\e]agent-server;123\\atext\\n"', 'text\n'],
  ['a mark of its own that tells no status',
    'printf "\\e]agent-server;$__agent_server_nonce;x\\atext\\n"; sleep 0.5; (exit 3)', 'text\n', 3],
  ['our variables emptied', 'PROMPT_COMMAND= PS1=prompt PS2=more; echo a', 'a\n'],
  ['a terminal left raw', 'stty raw echo; printf "a\\n"', 'a\n'],
  ['an unset variable', 'set -u; echo a; echo $nothing', 'a\nbash: nothing: unbound variable\n', 1],
  ['its own trace', 'set -x; true', '+++ true\n'],
  ['a return', 'return 5', '', 5],
  ['noclobber and no globbing', 'set -Cf; IFS=e; echo *', '*\n'],
]
for (const [what, command, output, exitCode = 0] of commands) {
  test(`runs a command with ${what}, and the shell is fine afterwards`, () => withTerminal({}, async ({ run }) => {
    const result = await run(command)
    assert.is(result.output, output)
    assert.is(result.exitCode, exitCode)
    assert.is((await run('set +Cfu; unset IFS; echo next')).output, 'next\n')
  }))
}

test('knows that a command has ended, and how, where no file can be written', () => withTerminal({}, async (
  { run, workingDir },
) => {
  const result = await run('ln -s /nowhere/file "${BASH_SOURCE%/*}/report-$__agent_server_nonce"; (exit 3)')
  assert.equal([result.exitCode, result.isTimeout, result.report?.workingDir], [3, false, workingDir])
  assert.is((await run('echo next')).output, 'next\n')
}))

test('never exports what is no name of a variable, or changes how programs load', () => withTerminal({}, async (
  { run },
) => {
  const env = { 'A; echo hacked;B': '1', 'LD_PRELOAD': '2', 'bash-name': '3', 'GOOD_1': '4' }
  assert.is((await run('echo $GOOD_1 "[$LD_PRELOAD]"', { env })).output, '4 []\n')
}))

test('tells a syntax error instead of waiting for more', () => withTerminal({}, async ({ run }) => {
  const result = await run('echo "never closed')
  assert.match(result.output, /^bash: eval: line 1: unexpected EOF while looking for matching/)
  assert.is.not(result.exitCode, 0)
  assert.is((await run('echo $(( 1 + 1 ))')).output, '2\n')
}))

const endings: [string, string, number][] = [
  ['exit', 'echo bye; exit 3', 3],
  ['exec', 'exec sh -c "echo bye; exit 4"', 4],
  ['an error under set -e', 'set -e; echo bye; false', 1],
  ['SIGKILL', 'echo bye; kill -9 $$', 137],
]
for (const [what, command, exitCode] of endings) {
  test(`starts a new shell after ${what}`, () => withTerminal({}, async ({ run, workingDir }) => {
    const result = await run(`cd /; ${command}`)
    assert.is(result.output, 'bye\n')
    assert.is(result.exitCode, exitCode)
    assert.match(result.note, /^The shell ended with exit code/)
    assert.is((await run('pwd')).output, `${workingDir}\n`)
  }))
}

test('goes on when the folder is removed', () => withTerminal({}, async ({ run, workingDir }) => {
  assert.is((await run('mkdir gone; cd gone; rmdir ../gone; echo ok')).output, 'ok\n')
  assert.is((await run(`cd ${workingDir}; pwd`)).output, `${workingDir}\n`)
}))

test('leaves a program running that is silent, and reads on', () => withTerminal({ idleMs: 300 }, async ({ run }) => {
  const first = await run('echo begin; sleep 2; echo end')
  assert.is(first.output, 'begin\n')
  assert.is(first.exitCode, -1)
  assert.not(first.isTimeout)
  assert.match(first.note, /printed nothing for 0.3 seconds and is still running/)
  const refused = await run('echo other')
  assert.ok(refused.isRefused)
  assert.match(refused.note, /NOT run/)
  const last = await run('', { timeoutMs: 30_000 })
  assert.is(last.output, 'end\n')
  assert.is(last.exitCode, 0)
}))

test('returns when the time is over, although the program goes on printing', () => withTerminal({}, async (
  { run, type },
) => {
  const result = await run('while true; do echo line; sleep 0.05; done', { timeoutMs: 500 })
  assert.match(result.output, /^line\n/)
  assert.ok(result.isTimeout)
  assert.is(result.exitCode, -1)
  assert.is((await pressInterrupt({ type })).exitCode, 130)
  assert.is((await run('echo next')).output, 'next\n')
}))

test('returns from a program that never stops printing, without a time of its own', () => withTerminal(
  { callLimitMs: 300 },
  async ({ run }) => {
    const result = await run('while true; do echo line; sleep 0.05; done')
    assert.ok(result.isTimeout)
    assert.match(result.note, /not ended within 0.3 seconds/)
  },
))

test('reads on as long again, however long the program has been silent', () => withTerminal({ idleMs: 1000 }, async (
  { run },
) => {
  await run('sleep 1.5; echo end')
  assert.is((await run('')).output, 'end\n')
}))

test('has nothing to read on when no command runs, but what jobs have printed', () => withTerminal({}, async (
  { run },
) => {
  await run('(sleep 0.2; echo from the job) &')
  let output = ''
  await until(async () => (output += (await run('')).output).includes('from the job'))
  assert.ok((await run('')).isRefused)
}))

test('refuses input that a terminal would not hold', () => withTerminal({ idleMs: 200 }, async ({ run, type }) => {
  await run('cat >/dev/null')
  const refused = await type('x'.repeat(3000))
  assert.ok(refused.isRefused)
  assert.match(refused.note, /at most 2000 bytes/)
  assert.is((await type('C-d', { timeoutMs: 20_000 })).exitCode, 0)
}))

test('serves calls one after the other', () => withTerminal({}, async ({ run }) => {
  const results = await Promise.all([run('sleep 0.2; echo 1'), run('echo 2'), run('echo 3')])
  assert.equal(results.map(({ output }) => output), ['1\n', '2\n', '3\n'])
}))

test('does nothing for a call that was aborted before', () => withTerminal({}, async ({ run, workingDir }) => {
  const signal = AbortSignal.abort(new Error('stop'))
  assert.is(await run('touch file', { signal }).catch((error) => error.message), 'stop')
  assert.equal(readdirSync(workingDir), [])
}))

test('ends a command when it is closed meanwhile', () => withTerminal({}, async ({ run, terminal, workingDir }) => {
  const running = run('echo $$ >self; sleep 100')
  await until(() => readdirSync(workingDir).includes('self') && pid(workingDir, 'self') > 0)
  await terminal.close()
  assert.match((await running).note, /^The shell ended/)
  assert.not(isAlive(pid(workingDir, 'self')))
}))

test('replaces a shell that an aborted command has become', () => withTerminal({}, async ({ run, workingDir }) => {
  const controller = new AbortController()
  const running = run(`exec bash -c "trap '' INT; echo \\$\\$ >self; while :; do sleep 0.1; done"`, {
    signal: controller.signal,
  })
  await until(() => readdirSync(workingDir).includes('self') && pid(workingDir, 'self') > 0)
  controller.abort(new Error('stop'))
  assert.is(await running.catch((error) => error.message), 'stop')
  assert.not(isAlive(pid(workingDir, 'self')))
  assert.is((await run('echo next')).output, 'next\n')
}))

test('says that the shell has ended between two calls', () => withTerminal({}, async ({ run, workingDir }) => {
  // The end of its process may be told a moment later than /proc shows it.
  let note = ''
  await until(async () => {
    await run('echo $PPID >parent; (sleep 0.1; kill -9 $$) &')
    await until(() => !isAlive(pid(workingDir, 'parent')))
    note = (await run('true')).note
    return note.startsWith('The shell had ended')
  })
  assert.match(note, /^The shell had ended meanwhile; this is a new one\. The command ended with exit code 0/)
}))

test('has no file with a secret in it while the command runs', () => withTerminal({ secrets: ['s3cret-value'] }, async (
  { run, runtimeDir },
) => {
  const result = await run(`grep -rl "$TOKEN" '${runtimeDir}'; echo searched`, { env: { TOKEN: 's3cret-value' } })
  assert.is(result.output, 'searched\n')
}))

test('types for a program', () => withTerminal({ idleMs: 500 }, async ({ run, type }) => {
  assert.is((await run('read -r -p "name? " name; echo "hello $name"')).output, 'name? ')
  assert.is((await type('Eva')).output, 'hello Eva\n')
  const refused = await type('more')
  assert.ok(refused.isRefused)
}))

test('throws away input that nobody has read', () => withTerminal({ idleMs: 300 }, async (
  { run, type, workingDir },
) => {
  await run('sleep 1')
  await type('touch typed-ahead')
  await until(async () => !(await run('', { timeoutMs: 5000 })).isTimeout)
  assert.is((await run('ls')).output, '')
  assert.equal(readdirSync(workingDir), [])
}))

test('ends a command with Ctrl-C when the call is aborted, and keeps the shell', () => withTerminal({}, async (
  { run, workingDir },
) => {
  await run('A=kept')
  const controller = new AbortController()
  const running = run('echo $BASHPID >pid; sleep 100', { signal: controller.signal })
  await until(() => readdirSync(workingDir).includes('pid'))
  controller.abort(new Error('stop'))
  assert.is(await running.catch((error) => error.message), 'stop')
  assert.is((await run('echo $A')).output, 'kept\n')
}))

test('kills a program that ignores Ctrl-C, with what it started elsewhere', () => withTerminal({}, async (
  { run, workingDir },
) => {
  const controller = new AbortController()
  const script = 'trap "" INT TERM; setsid sleep 100 & echo $! >other; echo $$ >self; while :; do sleep 1; done'
  const running = run(`bash -c '${script}'`, { signal: controller.signal })
  await until(() => readdirSync(workingDir).length === 2 && pid(workingDir, 'self') > 0 && pid(workingDir, 'other') > 0)
  controller.abort(new Error('stop'))
  assert.is(await running.catch((error) => error.message), 'stop')
  assert.not(isAlive(pid(workingDir, 'self')))
  assert.not(isAlive(pid(workingDir, 'other')))
  assert.is((await run('echo next')).output, 'next\n')
}))

test('ends the jobs of the calls that belong together when one of them is aborted, and no others', () => withTerminal(
  {},
  async ({ run, workingDir }) => {
    await run('sleep 100 & echo $! >before')
    const controller = new AbortController()
    await run(`sleep 100 & echo $! >job; ${leavesSession}`, { signal: controller.signal })
    const running = run('touch begun; sleep 100', { signal: controller.signal })
    await until(() => readdirSync(workingDir).includes('begun'))
    controller.abort(new Error('stop'))
    assert.is(await running.catch((error) => error.message), 'stop')
    assert.not(isAlive(pid(workingDir, 'job')))
    assert.not(isAlive(pid(workingDir, 'far')))
    assert.ok(isAlive(pid(workingDir, 'before')))
  },
))

test('keeps jobs in the background, and ends them with a reset', () => withTerminal({}, async ({ run, workingDir }) => {
  await run(`sleep 100 & echo $! >job; ${leavesSession}`)
  assert.match((await run('jobs')).output, /sleep 100/)
  assert.ok(isAlive(pid(workingDir, 'job')))
  const result = await run('jobs; echo "A=$A"', { reset: true })
  assert.is(result.output, 'A=\n')
  assert.not(isAlive(pid(workingDir, 'job')))
  assert.not(isAlive(pid(workingDir, 'far')))
}))

test(
  'gives secrets to one command and hides them',
  () => withTerminal({ secrets: ['s3cret-value', "it's odd\nvalue"] }, async ({ run }) => {
    const env = { TOKEN: 's3cret-value', ODD: "it's odd\nvalue" }
    const result = await run(
      'printf "%s" "$TOKEN" | wc -c; echo "$TOKEN"; printf s3cret; sleep 0.1; echo -value; env | grep -c ^ODD', { env },
    )
    assert.is(result.output, '12\n<secret-hidden>\n<secret-hidden>\n1\n')
    assert.is((await run('echo "[$TOKEN][$ODD]"')).output, '[][]\n')
    await run('TOKEN=own')
    await run('true', { env })
    assert.is((await run('echo $TOKEN; env | grep TOKEN')).output, 'own\n')
  }),
)

test('hides a secret of which one call shows the beginning and the next one the end', () => withTerminal(
  { secrets: ['s3cret-value'], idleMs: 500 },
  async ({ run }) => {
    const first = await run('printf "token: s3cret-"; sleep 2; echo value')
    assert.is(first.output, 'token: ')
    assert.is((await run('', { timeoutMs: 30_000 })).output, '<secret-hidden>\n')
  },
))

test('cuts a long output and keeps the whole in a file', () => withTerminal(
  { outputLimitChars: 1000, secrets: ['s3cret-value'] },
  async (t) => {
    const { output, file = '' } = await t.run('seq 1 1000; echo s3cret-value')
    assert.match(output, /^1\n2\n/)
    assert.match(output, /\n\[\.\.\. \d+ characters are left out here \.\.\.\]\n/)
    assert.match(output, /1000\n<secret-hidden>\n$/)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    assert.is(lines.length, 1001)
    assert.is(lines.at(-1), '<secret-hidden>')
    assert.is(statSync(file).mode & 0o777, 0o600)
    assert.equal(readdirSync(t.observationsDir), [file.slice(t.observationsDir.length + 1)])
  },
))

test('reads 50 MB of output', () => withTerminal({ fileLimitBytes: 1_000_000 }, async ({ run }) => {
  const result = await run('yes 0123456789012345678901234567890123456789012345678 | head -c 50000000', {
    timeoutMs: 60_000,
  })
  assert.is(result.exitCode, 0)
  assert.ok(result.output.length < 31_000)
  assert.is(statSync(result.file ?? '').size, 1_000_000)
}), 90_000)

test('starts a new shell where its private folder is gone, as after a logout', () => withTerminal({}, async (
  { run, runtimeDir },
) => {
  await run('mark=old')
  for (const name of readdirSync(runtimeDir)) rmSync(join(runtimeDir, name), { recursive: true })
  const result = await run('echo "mark is [$mark]"')
  assert.match(result.output, 'mark is []')
  assert.match(result.note, 'The shell had ended meanwhile; this is a new one.')
}))

test('leaves no process and no file when it is closed', () => withTerminal({}, async (
  { run, terminal, workingDir, runtimeDir },
) => {
  await run(leavesSession)
  assert.ok(isAlive(pid(workingDir, 'far')))
  await terminal.close()
  await terminal.close()
  assert.not(isAlive(pid(workingDir, 'far')))
  assert.equal(readdirSync(runtimeDir), [])
  assert.is(await run('true').catch((error) => error.message), 'The terminal is closed')
}))

test('says so when there is no bash', () => withTerminal({}, async ({ workingDir }) => {
  symlinkSync('/bin/sh', join(workingDir, 'sh'))
  await withTerminal({ kind: 'pipes', env: { PATH: workingDir } }, async ({ run }) => {
    assert.match(
      await run('true').catch((error) => error.message),
      /^Cannot start bash on a terminal \(pipes\): it ended with exit code 127$/,
    )
  })
}))

test('says so when no shell can be started', () => withTerminal(
  { workingDir: join('/', 'no', 'such', 'folder') },
  async ({ run }) => {
    assert.match(await run('true').catch((error) => error.message), /the folder "\/no\/such\/folder" does not exist/)
  },
))

function pid(folder: string, name: string): number {
  return Number(readFileSync(join(folder, name), 'utf8'))
}

test.run()
