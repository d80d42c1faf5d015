/** Backups of a server that runs, and the data that a restore brings back. */
import {
  appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { member, textAt } from '../../support/rest.ts'
import { inServer, runToEnd, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { addKey } from '../keys/named.ts'
import { backUpTo, inPieces, restoreTo } from './commands.ts'

const test = suite('parts/backup')

const secret = 'a-secret-value-of-the-backup'

async function say({ rest }: TestServer, id: string, text: string): Promise<void> {
  const message = { role: 'user', content: [{ type: 'text', text }], run: false }
  assert.is((await rest.post(`/api/conversations/${id}/events`, message)).status < 300, true)
}

/** A server with a conversation of two messages, a secret and a named key. Returns the id of the conversation. */
async function filled(server: TestServer): Promise<string> {
  const { rest, workspaceDir } = server
  const request = { workspace: { working_dir: join(workspaceDir, 'project') } }
  const id = textAt((await rest.post('/api/conversations', request)).json, 'id')
  await say(server, id, 'one')
  await say(server, id, 'two')
  assert.is((await rest.put('/api/settings/secrets', { name: 'SECRET', value: secret })).status < 300, true)
  return id
}

function logOf(dataDir: string, id: string): string {
  return join(dataDir, 'conversations', id, 'events.jsonl')
}

async function eventsOf({ rest }: TestServer, id: string): Promise<string> {
  const { status, text } = await rest.get(`/api/conversations/${id}/events/search`)
  assert.is(status, 200)
  return text
}

/** All bytes below a folder. */
function bytesBelow(folder: string): Buffer {
  return Buffer.concat(readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name))))
}

test('a backup of a running server is restored whole, from a folder and from a tar archive', () => withServer(
  async (server) => {
    const id = await filled(server)
    const { key } = await addKey(server, 'ci', { scopes: 'read' })
    const [events, folder] = [await eventsOf(server, id), join(server.folder, 'backup')]
    const made = await backUpTo(server.dataDir, folder)
    assert.match(made.printed, /^Backed up 1 conversations, \d+ files, /)
    const { bytes } = await backUpTo(server.dataDir, '-')
    for (const [name, input] of [[folder, undefined], ['-', inPieces(bytes)]] as const) {
      const place = join(server.folder, `restored-${name === '-' ? 'tar' : 'folder'}`)
      const restored = await restoreTo(name, join(place, 'data'), input === undefined ? {} : { input })
      assert.is(restored.code, 0)
      const verified = await runToEnd(['verify', '--data-dir', join(place, 'data')], server.folder)
      assert.is(verified.code, 0, verified.stdout)
      assert.is(readFileSync(logOf(join(place, 'data'), id), 'utf8'), readFileSync(logOf(server.dataDir, id), 'utf8'))
      await inServer(place, async (again) => {
        assert.is(await eventsOf(again, id), events)
        const { text } = await again.rest.get('/api/settings/secrets/SECRET')
        assert.is(text, secret)
        const keys = await again.rest.get('/api/keys')
        assert.match(keys.text, '"ci"')
      })
    }
    assert.not.match(bytesBelow(folder).toString('latin1'), key)
  }, { audit: 'on' },
))

test('the next backup stores new lines only, and shares outputs by hard links', () => withServer(async (server) => {
  const id = await filled(server)
  const output = join(server.dataDir, 'conversations', id, 'observations', 'output.txt')
  writeFileSync(output, 'x'.repeat(100_000), { mode: 0o600 })
  const folder = join(server.folder, 'backup')
  const report = async (): Promise<unknown> => {
    return JSON.parse((await backUpTo(server.dataDir, folder, { flags: { json: 'true' } })).printed)
  }
  const first = await report()
  assert.is(member(first, 'linked_bytes'), 100_000)
  assert.is(statSync(output).nlink, 2)
  const before = statSync(logOf(server.dataDir, id)).size
  const second = await report()
  assert.equal([member(second, 'copied_bytes'), member(second, 'linked_bytes')], [0, 0])
  await say(server, id, 'three')
  // A file that grows after it was shared is restored with the size that it had.
  const third = await report()
  assert.is(member(third, 'copied_bytes'), statSync(logOf(server.dataDir, id)).size - before)
  appendFileSync(output, 'more')
  await restoreTo(folder, join(server.folder, 'restored'))
  const restored = join(server.folder, 'restored', 'conversations', id)
  assert.is(readFileSync(join(restored, 'events.jsonl'), 'utf8'), readFileSync(logOf(server.dataDir, id), 'utf8'))
  assert.is(readFileSync(join(restored, 'observations', 'output.txt'), 'utf8'), 'x'.repeat(100_000))
}))

test('without keys no key and no digest of a key is in the backup, and the reports say what does not open', () =>
  withServer(async (server) => {
    await filled(server)
    await addKey(server, 'ci', { scopes: 'read' })
    const folder = join(server.folder, 'backup')
    const sealing = textAt(JSON.parse(readFileSync(join(server.dataDir, 'keys', 'sealing.json'), 'utf8')), 'key')
    const digest = textAt(JSON.parse(readFileSync(join(server.dataDir, 'named-keys', 'ci.json'), 'utf8')), 'digest')
    await backUpTo(server.dataDir, folder)
    assert.ok(bytesBelow(folder).includes(sealing) && bytesBelow(folder).includes(digest))
    // Also in a folder that had a backup with keys.
    const { told } = await backUpTo(server.dataDir, folder, { flags: { 'without-keys': 'true' } })
    assert.not.ok(bytesBelow(folder).includes(sealing) || bytesBelow(folder).includes(digest))
    const [seal] = JSON.parse(readFileSync(join(server.dataDir, 'seals.json'), 'utf8')).keys
    assert.match(told, `open only with the key ${seal}`)
    const restored = await restoreTo(folder, join(server.folder, 'restored'))
    assert.match(restored.told, `open only with the key ${seal}`)
    assert.not.ok(existsSync(join(server.folder, 'restored', 'keys')))
    const verified = await runToEnd(['verify', '--data-dir', join(server.folder, 'restored')], server.folder)
    assert.is(verified.code, 1)
    assert.match(verified.stdout, seal)
  }))

test('links and installed agents are named, caches are not there', () => withServer(async (server) => {
  const id = await filled(server)
  const agentDir = join(server.dataDir, 'conversations', id, 'acp')
  mkdirSync(agentDir)
  symlinkSync('/etc/passwd', join(agentDir, 'link'))
  writeFileSync(join(agentDir, 'run.sh'), 'true', { mode: 0o700 })
  mkdirSync(join(server.dataDir, 'agents'), { recursive: true })
  writeFileSync(join(server.dataDir, 'agents', 'codex.json'), '{}')
  const { told } = await backUpTo(server.dataDir, join(server.folder, 'backup'))
  assert.match(told, `no regular files: conversations/${id}/acp/link\n`)
  assert.match(told, 'install them again after a restore: codex\n')
  await restoreTo(join(server.folder, 'backup'), join(server.folder, 'restored'))
  const restored = join(server.folder, 'restored')
  assert.equal(readdirSync(join(restored, 'conversations', id)).sort(), ['acp', 'events.jsonl', 'observations'])
  assert.is(statSync(join(restored, 'conversations', id, 'acp', 'run.sh')).mode & 0o777, 0o700)
  const top = readdirSync(restored)
  for (const name of ['agents', 'runtime', 'temporary', 'reserve', 'owner.json']) {
    assert.not.ok(top.includes(name), name)
  }
}))

test('a workspace is moved in conversations and settings, and the chain goes on', () => withServer(async (server) => {
  const id = await filled(server)
  const { workspaceDir, rest } = server
  const list = { workspaces: [{ id: 'a', name: 'A', path: join(workspaceDir, 'project') }], workspaceParents: [] }
  writeFileSync(join(server.dataDir, 'workspaces.json'), JSON.stringify({ version: 1, ...list }))
  const verify = async (dataDir: string, ...words: string[]) =>
    runToEnd(['verify', '--data-dir', dataDir, ...words], server.folder)
  const head = /head ([0-9a-f]{32})/.exec((await verify(server.dataDir)).stdout)?.[1] ?? ''
  await backUpTo(server.dataDir, join(server.folder, 'backup'))
  const place = join(server.folder, 'moved')
  mkdirSync(join(place, 'elsewhere'), { recursive: true })
  const map = [`${workspaceDir}=${join(place, 'elsewhere')}/`]
  const restored = await restoreTo(join(server.folder, 'backup'), join(place, 'data'), { map })
  assert.match(restored.printed, 'Moved the workspaces of 1 conversations, and paths in workspaces.json\n')
  assert.is((await verify(join(place, 'data'), '--expect', head, id)).code, 0)
  await inServer(place, async (again) => {
    const { json } = await again.rest.get(`/api/conversations/${id}`)
    assert.is(textAt(json, 'workspace', 'working_dir'), join(place, 'elsewhere', 'project'))
    assert.is(await eventsOf(again, id), await eventsOf(server, id))
  })
  assert.match(readFileSync(join(place, 'data', 'workspaces.json'), 'utf8'), join(place, 'elsewhere', 'project'))
  const { json } = await rest.get(`/api/conversations/${id}`)
  assert.is(textAt(json, 'workspace', 'working_dir'), join(workspaceDir, 'project'))
}))

test.run()
