/** `agent-server keys`: bad words, the stored data, and a command that is killed while it adds keys. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { createLog, silentLog } from '../../../src/base/log.ts'
import { endOf } from '../../../src/parts/keys/expiry.ts'
import { namesIn, readKey } from '../../../src/parts/keys/key-files.ts'
import { digestOf, idIn } from '../../../src/parts/keys/key-text.ts'
import { OpenKeys } from '../../../src/parts/keys/named-keys.ts'
import { keys } from '../../../src/parts/keys/part.ts'
import { retention } from '../../../src/parts/retention/part.ts'
import { claimDataFolder } from '../../../src/storage/data-folder-claim.ts'
import { makeFolder } from '../../support/processes.ts'
import { programFile } from '../../support/program-file.ts'
import { runToEnd, withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey, runKeys } from './named.ts'

const test = suite('parts/keys: the command')

async function inFolder(body: (dataDir: string, folder: string) => Promise<void>): Promise<void> {
  const { folder, remove } = makeFolder()
  try {
    await claimDataFolder(join(folder, 'data'))
    await body(join(folder, 'data'), folder)
  } finally {
    remove()
  }
}

test('the program adds, lists and revokes a key, and prints it once', () => inFolder(async (dataDir, folder) => {
  const keys = (...words: string[]) => runToEnd(['keys', ...words, '--data-dir', dataDir], folder)
  const added = await keys('add', 'ci', '--scopes', 'read,drive', '--expires', '90d', '--tag', 'team=shop')
  assert.is(added.code, 0, added.stderr)
  assert.match(added.stdout, /^ask_[0-9a-f]{12}_[\w-]{43}\n$/)
  assert.match(added.stderr, 'It is valid within a second on a running server')
  const listed = await keys('list')
  assert.match(listed.stdout, /^ci +[0-9a-f]{12} +read,drive +team=shop +- +20/m)
  assert.not.match(listed.stdout, added.stdout.trim())
  assert.is((await keys('add', 'ci', '--scopes', 'read')).code, 1)
  assert.is((await keys('revoke', 'ci')).code, 0)
  assert.is((await keys('revoke', 'ci')).code, 1)
  assert.match((await keys('list')).stdout, 'There are no named keys')
  assert.match((await keys('--help')).stdout, '--scopes LIST')
  assert.match((await keys('rotate')).stdout, 'sealing-keys reseal')
}))

test('a file holds the digest only, and nobody else may read it', () => inFolder(async (dataDir) => {
  const { printed } = await runKeys(dataDir, ['add', 'one'], { scopes: 'all', json: 'true' })
  const { key, id } = JSON.parse(printed)
  const file = join(dataDir, 'named-keys', 'one.json')
  assert.is(statSync(file).mode & 0o777, 0o600)
  assert.is(statSync(join(dataDir, 'named-keys')).mode & 0o777, 0o700)
  const text = readFileSync(file, 'utf8')
  assert.not.match(text, key.slice(17))
  assert.match(text, digestOf(key))
  assert.is(idIn(key), id)
}))

const refused: readonly (readonly [words: readonly string[], flags: Record<string, string>, message: string])[] = [
  [[], {}, 'expected keys add NAME'],
  [['bin'], {}, 'expected keys add NAME'],
  [['add'], { scopes: 'read' }, 'expected the name of one key'],
  [['add', 'a', 'b'], { scopes: 'read' }, 'expected the name of one key'],
  ...['A', '.a', '-a', 'a/b', '../a', 'a b', 'ä', '', 'a'.repeat(65), 'a\n'].map((name) => {
    return [['add', name], { scopes: 'read' }, 'expected 1 to 64'] as const
  }),
  [['add', 'a'], {}, '--scopes is missing'],
  [['add', 'a'], { scopes: '' }, 'expected read, drive'],
  [['add', 'a'], { scopes: 'read,root' }, '"root"'],
  ...['0d', '9', 'd', '-1d', '1w', '2020-01-01', '2026-13-01', '999999d', 'tomorrow', ''].map((expires) => {
    return [['add', 'a'], { scopes: 'read', expires }, 'within ten years'] as const
  }),
  ...['x', '=x', 'team=', 'Team=x', 'a-b=x', `t=${'x'.repeat(257)}`].map((tag) => {
    return [['add', 'a'], { scopes: 'read', tag }, 'NAME=VALUE'] as const
  }),
  ...['configure', 'admin', 'metrics'].map((scope) => {
    return [['add', 'a'], { scopes: `read,${scope}`, tag: 'team=x' }, 'for the whole server'] as const
  }),
  [['list', 'a'], {}, 'no further word'],
  [['revoke'], {}, 'the name of one key'],
  [['revoke', '../format'], {}, 'expected 1 to 64'],
]

test('a limit is refused in a server without the part that keeps it, and leaves no key', () => inFolder(async (
  dataDir,
) => {
  for (const flag of ['max-conversations', 'max-runs']) {
    const thrown: unknown = await runKeys(dataDir, ['add', 'a'], { scopes: 'read', [flag]: '1' }, [keys])
      .catch((error: unknown) => error)
    assert.match(String(thrown), `--${flag}: the part "retention", which keeps the limits of keys`)
  }
  assert.equal(await namesIn(dataDir), [])
}))

test('a limit is refused when --parts leaves out the part that keeps it', () => inFolder(async (dataDir) => {
  const add = (...parts: readonly string[]): Promise<unknown> =>
    runKeys(dataDir, ['add', 'a'], { scopes: 'read', 'max-runs': '1' }, [keys, retention], parts)
  for (const wanted of ['keys', 'none']) {
    assert.match(String(await add(wanted).catch((error: unknown) => error)), 'the part "retention"', wanted)
  }
  assert.equal(await namesIn(dataDir), [])
  await add('keys', 'retention')
  assert.equal(await namesIn(dataDir), ['a'])
}))

test('bad words are refused, and leave no key', () => inFolder(async (dataDir) => {
  await runKeys(dataDir, ['add', 'first'], { scopes: 'read' })
  for (const [words, flags, message] of refused) {
    const thrown: unknown = await runKeys(dataDir, words, flags).catch((error: unknown) => error)
    assert.instance(thrown, AppError, JSON.stringify([words, flags]))
    assert.match(String(thrown), message)
  }
  assert.equal(readdirSync(join(dataDir, 'named-keys')), ['first.json'])
}))

test('a folder that is no data folder is not touched, and a missing one is not made', () => inFolder(async (
  dataDir, folder,
) => {
  const [other, missing] = [join(folder, 'other'), join(folder, 'missing')]
  mkdirSync(other)
  writeFileSync(join(other, 'letter.txt'), 'mine')
  for (const words of [['add', 'a'], ['list'], ['revoke', 'a']]) {
    const refusal = await runKeys(other, words, { scopes: 'read' }).catch((error: unknown) => error)
    assert.instance(refusal, AppError)
    const absence = await runKeys(missing, words, { scopes: 'read' }).catch((error: unknown) => error)
    assert.match(String(absence), `There is no data folder at "${missing}"`)
  }
  assert.equal(readdirSync(other), ['letter.txt'])
  assert.equal(readdirSync(folder).sort(), [basename(dataDir), 'other'])
}))

test('a key that cannot be read is logged once for each change of the folder', () => inFolder(async (dataDir) => {
  for (const name of ['a', 'b']) await runKeys(dataDir, ['add', name], { scopes: 'read' })
  writeFileSync(join(dataDir, 'named-keys', 'a.json'), '{')
  const lines: string[] = []
  const log = createLog({
    write: (line: string) => void lines.push(line), level: 'info', clock: Date.now, mask: (text) => text,
  })
  const open = await OpenKeys.open({
    dataDir, clock: Date.now, log, onChange: () => undefined, hide: () => undefined, keepLimits: async () => undefined,
  })
  for (let looks = 0; looks < 4; looks++) await open.look()
  assert.is(lines.length, 1, lines.join(''))
  await open.revoke('b')
  await open.look()
  assert.is(lines.length, 2, lines.join(''))
  await open.close()
}))

test('a key that could not be read is read again while the folder stays as it is', () => inFolder(async (dataDir) => {
  await runKeys(dataDir, ['add', 'a'], { scopes: 'read' })
  const path = join(dataDir, 'named-keys', 'a.json')
  const whole = readFileSync(path)
  writeFileSync(path, '{')
  const open = await OpenKeys.open({
    dataDir, clock: Date.now, log: silentLog, onChange: () => undefined, hide: () => undefined,
    keepLimits: async () => undefined,
  })
  for (let looks = 0; looks < 20; looks++) await open.look()
  // Written in place: the time stamp of the folder stays the same.
  writeFileSync(path, whole)
  for (let looks = 0; looks < 40; looks++) await open.look()
  assert.equal(open.list().map(({ name }) => name), ['a'])
  await open.close()
}))

test('the end of a key is a span from now, or a time in UTC', () => {
  const now = Date.UTC(2026, 0, 1)
  assert.equal(
    ['30m', '12h', '90d', '2026-01-02', '2026-01-01T00:00:01Z'].map((word) => (endOf(word, now) ?? 0) - now),
    [30 * 60_000, 12 * 3_600_000, 90 * 86_400_000, 86_400_000, 1000],
  )
  assert.is(endOf(undefined, now), undefined)
})

test('a command that is killed at any moment leaves whole keys, and the next works', () => inFolder(async (dataDir) => {
  await runKeys(dataDir, ['add', 'before'], { scopes: 'read' })
  for (let round = 0; round < 12; round++) {
    const args = [programFile, 'keys', 'add', `round-${round}`, '--scopes', 'read', '--data-dir', dataDir]
    const child = spawn(process.execPath, args, { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const timer = setTimeout(() => child.kill('SIGKILL'), 60 + 12 * round)
    await once(child, 'close')
    clearTimeout(timer)
  }
  for (const name of await namesIn(dataDir)) assert.is((await readKey(dataDir, name))?.name, name)
  await runKeys(dataDir, ['add', 'after'], { scopes: 'read' })
  assert.ok((await namesIn(dataDir)).includes('after'))
}))

test('a damaged key counts for nothing, is logged, and can be revoked', () => withServer(async (server) => {
  const { rest } = await addKey(server, 'sound', { scopes: 'read' })
  const broken = await addKey(server, 'broken', { scopes: 'read' })
  for (const text of ['{', '{}', '{"id":"x","digest":"y","scopes":["read"],"created":1,"expires":"never"}']) {
    writeFileSync(join(server.dataDir, 'named-keys', 'broken.json'), text)
    chmodSync(join(server.dataDir, 'named-keys', 'broken.json'), 0o600)
    await addKey(server, `next-${text.length}`, { scopes: 'read' })
    assert.is((await broken.rest.get('/api/settings')).status, 401)
    assert.is((await rest.get('/api/settings')).status, 200)
  }
  assert.match(server.log.join(''), 'A named key cannot be read')
  assert.is((await runKeys(server.dataDir, ['revoke', 'broken'])).code, 0)
}))

test.run()
