/** The built program, beyond test/cli/main: what a refused start leaves behind. */
import * as assert from 'uvu/assert'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { once } from 'node:events'
import { join } from 'node:path'
import { runToEnd, withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, startTalk, talkTo } from './talk.ts'

const test = suite('cli', 60_000)

/** The flags that put everything into a folder. */
const inside = (folder: string): string[] =>
  ['--port', '0', '--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]

test('a key on the command line is never repeated in a refusal', withPrograms(async (_, folder) => {
  const { code, stdout, stderr } = await runToEnd([...inside(folder), '--session-api-key', 'a-secret\u0001key'], folder)
  assert.equal([code, stdout], [2, ''])
  assert.not.match(stderr, 'a-secret')
}))

test('a port that is in use leaves the folder free for the next start', withPrograms(async (start, folder) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? String(address.port) : ''
  assert.is((await runToEnd([...inside(folder), '--port', port], folder)).code, 3)
  other.close()
  assert.is(await (await start()).stop('SIGTERM'), 0)
}))

test('a folder that another server owns is not verified either, and its owner is not disturbed', withPrograms(async (start, folder) => {
  const program = await start()
  const talk = await startTalk(program)
  for (const words of [inside(folder), ['verify', ...inside(folder)]]) {
    const { code, stdout, stderr } = await runToEnd(words, folder)
    assert.equal([code, stdout], [4, ''], stderr)
    assert.match(stderr, String(program.child.pid))
    assert.match(stderr, program.url)
  }
  assert.is((await talk.get()).status, 200)
  assert.is(await program.stop('SIGTERM'), 0)
}))

test('a stopped owner keeps its folder and goes on; of a killed one it is free at once', withPrograms(async (start, folder) => {
  const owner = await start()
  const talk = await startTalk(owner)
  owner.child.kill('SIGSTOP')
  const { code, stdout, stderr } = await runToEnd(inside(folder), folder)
  assert.equal([code, stdout], [4, ''])
  const started = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(stderr)?.[0] ?? ''
  assert.ok(Math.abs(Date.parse(started) - Date.now()) < 600_000, stderr)
  const words = `another server owns it, process ${owner.child.pid} on host ${hostname()}, started ${started} at ${owner.url}`
  assert.is(stderr, `agent-server: Cannot use the data folder "${owner.dataDir}": ${words}\n`)
  owner.child.kill('SIGCONT')
  assert.is((await talk.send('still mine', false)).status, 200)
  owner.child.kill('SIGSTOP')
  assert.is(await owner.stop('SIGKILL'), 'SIGKILL')
  const next = await start()
  assert.equal(messagesOf(await talkTo(next, talk.id).events(), 'user'), ['still mine'])
  assert.is(await next.stop('SIGTERM'), 0)
}))

test('of four servers that start on one folder at once, one owns it', withPrograms(async (start, folder) => {
  const starting = Array.from({ length: 4 }, () => start().then(() => 'owner', (error: unknown) => String(error)))
  const refused = (await Promise.all(starting)).filter((end) => end !== 'owner')
  assert.is(refused.length, 3)
  for (const words of refused) assert.match(words, `Cannot use the data folder "${join(folder, 'data')}": another server owns it`)
}))

const readOnly = 'a data folder that may not be written ends with 5 and one line'
// Nothing is read-only to root, and not every other user may read this checkout.
const user = process.getuid?.() === 0 ? { uid: 65_534 } : {}
if ((await runToEnd(['--version'], '/', {}, user)).code === 0) {
  test(readOnly, withPrograms(async (_, folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    chmodSync(folder, 0o755)
    chmodSync(data, 0o555)
    const { code, stdout, stderr } = await runToEnd(inside(folder), folder, {}, user)
    assert.equal([code, stdout], [5, ''], stderr)
    // Where coverage is measured, Node adds a line of its own about the folder that this user may not write either.
    const words = stderr.split('\n').filter((line) => line.startsWith('agent-server: '))
    assert.is(words.length, 1, stderr)
    assert.match(words[0] ?? '', 'data')
    assert.equal(readdirSync(data), [])
  }))
} else {
  test.skip(readOnly, 'only root can read this checkout')
}

test.run()
