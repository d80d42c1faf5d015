/** The built program, beyond test/cli/main: what a refused start leaves behind. */
import * as assert from 'uvu/assert'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { runToEnd, withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

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
