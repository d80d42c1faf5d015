/** The built program, beyond test/cli/main: the files that a refused start leaves. */
import * as assert from 'uvu/assert'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { runToEnd, withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, startTalk, talkTo } from './talk.ts'

const test = suite('cli')

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

test('a folder that another server owns is refused, may be verified, and its owner is not disturbed', withPrograms(
  async (start, folder) => {
    const program = await start()
    const talk = await startTalk(program)
    const { code, stdout, stderr } = await runToEnd(inside(folder), folder)
    assert.equal([code, stdout], [4, ''], stderr)
    assert.match(stderr, String(program.child.pid))
    assert.match(stderr, program.url)
    const ended = new AbortController()
    const sending = (async () => {
      while (!ended.signal.aborted) await talk.send('x'.repeat(200_000), false)
    })()
    for (let look = 0; look < 5; look++) {
      const beside = await runToEnd(['verify', ...inside(folder)], folder)
      assert.equal([beside.code, beside.stderr], [0, ''], beside.stdout)
      assert.match(beside.stdout, `${talk.id}  sound: `)
    }
    ended.abort()
    await sending
    assert.is((await talk.get()).status, 200)
    assert.is(await program.stop('SIGTERM'), 0)
  },
))

test(
  'a stopped owner keeps its folder and goes on; of a killed one it is free at once',
  withPrograms(async (start, folder) => {
    const owner = await start()
    const talk = await startTalk(owner)
    owner.child.kill('SIGSTOP')
    const { code, stdout, stderr } = await runToEnd(inside(folder), folder)
    assert.equal([code, stdout], [4, ''])
    const started = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(stderr)?.[0] ?? ''
    assert.ok(Math.abs(Date.parse(started) - Date.now()) < 600_000, stderr)
    const words = `another server owns it, process ${owner.child.pid} on host ${hostname()}, started ${started} at ` +
      `${owner.url}; stop it first, or give another --data-dir`
    assert.is(stderr, `agent-server: Cannot use the data folder "${owner.dataDir}": ${words}\n`)
    owner.child.kill('SIGCONT')
    assert.is((await talk.send('still mine', false)).status, 200)
    owner.child.kill('SIGSTOP')
    assert.is(await owner.stop('SIGKILL'), 'SIGKILL')
    const next = await start()
    assert.equal(messagesOf(await talkTo(next, talk.id).events(), 'user'), ['still mine'])
    assert.is(await next.stop('SIGTERM'), 0)
  }),
)

test('of four servers that start on one folder at once, one owns it', withPrograms(async (start, folder) => {
  const starting = Array.from({ length: 4 }, () => start().then(() => 'owner', (error: unknown) => String(error)))
  const refused = (await Promise.all(starting)).filter((end) => end !== 'owner')
  assert.is(refused.length, 3)
  for (const words of refused) {
    assert.match(words, `Cannot use the data folder "${join(folder, 'data')}": another server owns it`)
  }
}))

test(
  'a folder that is no data folder is refused by every command, and nothing in it is written or removed',
  withPrograms(async (_, folder) => {
    const data = join(folder, 'data')
    const files = [
      'agents/mine/notes', 'temporary/draft', 'runtime/socket', 'list.json', 'lock', 'owner.json', 'reserve',
      'conversations/a',
    ]
    for (const file of files) {
      mkdirSync(join(data, dirname(file)), { recursive: true })
      writeFileSync(join(data, file), 'mine')
    }
    const all = (): string[] => readdirSync(data, { recursive: true }).map(String).sort()
    const before = all()
    const commands = [
      [], ['verify'], ['agents', 'list'], ['agents', 'install', 'codex'], ['agents', 'verify'],
      ['agents', 'remove', 'codex'],
    ]
    for (const words of commands) {
      const { code, stdout, stderr } = await runToEnd([...words, ...inside(folder)], folder)
      assert.equal([code, stdout], [5, ''], words.join(' '))
      assert.match(stderr, `Cannot use "${data}" as the data folder: it is no data folder`)
      assert.equal(all(), before)
      for (const file of files) assert.is(readFileSync(join(data, file), 'utf8'), 'mine')
    }
  }),
)

test('what has no name that this server gives stays in the folders of a data folder', withPrograms(async (
  start, folder,
) => {
  assert.is(await (await start()).stop('SIGTERM'), 0)
  const kept = ['agents/my-tools', 'agents/new-ideas', 'temporary/draft', 'conversations/notes']
  for (const name of kept) mkdirSync(join(folder, 'data', name), { recursive: true })
  assert.is(await (await start()).stop('SIGKILL'), 'SIGKILL')
  assert.is(await (await start()).stop('SIGTERM'), 0)
  assert.is((await runToEnd(['agents', 'remove', 'codex', ...inside(folder)], folder)).code, 1)
  for (const name of kept) assert.ok(existsSync(join(folder, 'data', name)), name)
}))

test('a data folder or key that others may write is refused, one that others could read is warned of', withPrograms(
  async (start, folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    chmodSync(data, 0o777)
    const open = await runToEnd(inside(folder), folder)
    assert.is(open.code, 5)
    assert.match(open.stderr, 'other users may write it (mode 0777); expected chmod 700')
    chmodSync(data, 0o755)
    const program = await start([], { withKey: false })
    await program.stop('SIGTERM')
    assert.match(program.stderr(), 'Other users may look into the data folder')
    chmodSync(data, 0o700)
    chmodSync(join(data, 'keys', 'session.json'), 0o640)
    const readable = await start([], { withKey: false })
    await readable.stop('SIGTERM')
    assert.not.match(readable.stderr(), 'look into the data folder')
    assert.match(readable.stderr(), /Other users could read a key until now.*session\.json","mode":"0640"/)
    chmodSync(join(data, 'keys', 'session.json'), 0o620)
    const written = await runToEnd(inside(folder), folder)
    assert.is(written.code, 5)
    assert.match(written.stderr, /session\.json": other users may write it \(mode 0620\)/)
    const key = join(folder, 'key')
    writeFileSync(key, 'a-key-for-the-sealing')
    chmodSync(join(data, 'keys', 'session.json'), 0o600)
    chmodSync(key, 0o644)
    const given = await start(['--secret-key-file', key])
    await given.stop('SIGTERM')
    assert.match(given.stderr(), 'Other users may read a file with keys')
  },
))

const readOnly = 'a data folder that may not be written ends with 5 and one line'
// Nothing is read-only to root, and not every other user may read this checkout.
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: 65_534 } : {}
if ((await runToEnd(['--version'], '/', {}, user)).code === 0) {
  test(readOnly, withPrograms(async (_, folder) => {
    const data = join(folder, 'data')
    mkdirSync(data)
    chmodSync(folder, 0o755)
    if (user.uid !== undefined) chownSync(data, user.uid, user.uid)
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
