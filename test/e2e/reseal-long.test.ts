/** The sealing key is changed: everything that is stored is sealed anew, or named with the key that it still needs. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { textAt } from '../support/rest.ts'
import { runToEnd, withPrograms, type Program, type ProgramEnd, type StartProgram } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('reseal')

const first = ['--secret-key', 'the-first-key-of-all']
const second = ['--secret-key', 'the-second-key-of-all']
const both = [...second, '--old-secret-key', 'the-first-key-of-all']

/** Has something sealed in each place. */
async function sealEverywhere(program: Program): Promise<Talk> {
  const { rest } = program
  const answers = [
    await rest.put('/api/settings/secrets', { name: 'TOKEN_ONE', value: 'a-secret-value' }),
    await rest.patch('/api/settings', {
      agent_settings_diff: {
        acp_env: { A: 'b' }, mcp_config: { one: { command: 'true', env: { TOKEN: 'a-secret-of-it' } } },
      },
    }),
    await rest.post('/api/profiles/mine', { llm: { model: 'm', api_key: 'sk-a-key-of-it' }, include_secrets: true }),
  ]
  for (const { status, text } of answers) assert.ok(status < 300, text)
  return startTalk(program, { secrets: { MY_TOKEN: { kind: 'StaticSecret', value: 'the-value-of-it' } } })
}

const inFolder = (folder: string, ...words: string[]): Promise<ProgramEnd> =>
  runToEnd([...words, ...dirs(folder)], folder)

test(
  'after a reseal the old key is needed for nothing: files, conversations, forks of early points, undo',
  withPrograms(async (start, folder) => {
    const before = await start(first)
    const talk = await sealEverywhere(before)
    await talk.send('hello', false)
    await before.rest.post(`${talk.path}/secrets`, { secrets: { LATER: 'a-later-value-of-it' } })
    await talk.send('again', false)
    await before.stop('SIGTERM')
    const owned = await start(both)
    const refused = await inFolder(folder, 'keys', 'reseal', ...both)
    assert.equal([refused.code, refused.stdout], [4, ''])
    await owned.stop('SIGTERM')
    const done = await inFolder(folder, 'keys', 'reseal', ...both)
    assert.is(done.code, 0, done.stdout + done.stderr)
    assert.match(done.stdout, /^Sealed with [0-9a-f]{8}: settings, secrets, profiles, logins, and the newest records of 1 conversation\nNothing needs [0-9a-f]{8} any more/)
    await assertSound(start, folder, second)
    const after = await start(second)
    assert.is((await after.rest.get('/api/settings/secrets/TOKEN_ONE')).text, 'a-secret-value')
    const [early] = await talkTo(after, talk.id).events()
    const fork = await after.rest.post(`${talk.path}/fork`, { from_event_id: early?.['id'] })
    assert.is(fork.status, 201)
    for (const id of [talk.id, textAt(fork.json, 'id')]) {
      const one = talkTo(after, id)
      await one.send('run: echo done')
      await one.reaches('finished')
    }
    await after.stop('SIGTERM')
    assert.is((await inFolder(folder, 'keys', 'reseal', ...second)).code, 0)
  }),
)

test(
  'a reseal without a key that is needed changes what it can and names the rest; a lost key can be forgotten',
  withPrograms(async (start, folder) => {
    const before = await start(first)
    await sealEverywhere(before)
    await before.stop('SIGTERM')
    const kept = readFileSync(join(folder, 'data', 'secrets.json'), 'utf8')
    const partly = await inFolder(folder, 'keys', 'reseal', ...second)
    assert.is(partly.code, 1)
    for (const named of [
      /Cannot read "settings\.json": it was sealed with/,
      /Cannot read "secrets\.json"/,
      /The profile "mine" needs the key/,
      /Conversation [0-9a-f-]{36} needs the key/,
    ]) {
      assert.match(partly.stdout, named)
    }
    assert.is(readFileSync(join(folder, 'data', 'secrets.json'), 'utf8'), kept)
    await assertSound(start, folder, both)
    const { stdout: list } = await inFolder(folder, 'sealing-keys', 'list', ...second)
    const id = /([0-9a-f]{8}) +missing/.exec(list)?.[1] ?? ''
    for (const file of ['settings.json', 'secrets.json', 'profiles.json']) rmSync(join(folder, 'data', file))
    assert.match((await inFolder(folder, 'doctor', ...second)).stdout, `may be sealed with the key ${id}`)
    assert.is((await inFolder(folder, 'keys', 'forget', id, ...second)).code, 0)
    assert.match((await inFolder(folder, 'doctor', ...second)).stdout, /^ok +stored secrets/m)
  }),
)

test('the key of the data folder is rotated there, and one that is given is not', withPrograms(async (
  start, folder,
) => {
  const before = await start()
  await before.rest.put('/api/settings/secrets', { name: 'TOKEN_ONE', value: 'a-secret-value' })
  await before.stop('SIGTERM')
  assert.is((await inFolder(folder, 'keys', 'rotate', ...first)).code, 2)
  assert.is((await inFolder(folder, 'keys', 'rotate')).code, 0)
  const kept = readFileSync(join(folder, 'data', 'secrets.json'), 'utf8')
  await assertSound(start, folder, [])
  assert.match((await inFolder(folder, 'keys', 'reseal')).stdout, 'Nothing needs')
  assert.is.not(readFileSync(join(folder, 'data', 'secrets.json'), 'utf8'), kept)
  const { key } = JSON.parse(readFileSync(join(folder, 'data', 'keys', 'sealing.json'), 'utf8'))
  writeFileSync(join(folder, 'data', 'keys', 'sealing.json'), JSON.stringify({ version: 1, key }))
  await assertSound(start, folder, [])
  assert.is((await inFolder(folder, 'sealing-keys')).code, 2)
}))

/** With all keys everything opens, and nothing is said. */
async function assertSound(start: StartProgram, folder: string, keys: readonly string[]): Promise<void> {
  const program = await start(keys)
  assert.is((await program.rest.get('/ready')).status, 200)
  await program.stop('SIGTERM')
  assert.not.match(program.stderr(), 'cannot be opened')
  assert.is((await runToEnd(['verify', ...keys, ...dirs(folder)], folder)).code, 0)
  assert.match(
    (await runToEnd(['doctor', ...keys, ...dirs(folder)], folder)).stdout,
    /^ok +stored secrets +the given keys open every sealed value$/m,
  )
}

function dirs(folder: string): string[] {
  return ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]
}

test.run()
