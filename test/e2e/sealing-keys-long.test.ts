/**
 * A server that gets another sealing key than the key that sealed its data: every answer about sealed data says so at
 * once.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runToEnd, withPrograms, type Program, type StartProgram } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

const test = suite('sealing keys')

const first = ['--secret-key', 'the-first-key-of-all']
const second = ['--secret-key', 'the-second-key-of-all']
const both = [...second, '--old-secret-key', 'the-first-key-of-all']

/** The values that a data folder seals, and the words about each with another key. */
const sealed: readonly [what: string, make: (program: Program) => Promise<unknown>, named: RegExp][] = [
  ['a secret', ({ rest }) => rest.put('/api/settings/secrets', { name: 'TOKEN_ONE', value: 'a-secret-value' }),
    /Cannot read \\"secrets\.json\\": it was sealed with the key [0-9a-f]{8}/],
  [
    'a key in the settings',
    ({ rest }) => {
      return rest.patch('/api/settings', {
        agent_settings_diff: { agent_kind: 'openhands', llm: { model: 'm', api_key: 'sk-a-key-of-it' } },
      })
    },
    /Cannot read \\"settings\.json\\": it was sealed with the key [0-9a-f]{8}/,
  ],
  [
    'a profile',
    ({ rest }) =>
      rest.post('/api/profiles/mine', { llm: { model: 'm', api_key: 'sk-a-key-of-it' }, include_secrets: true }),
    /The profile \\"mine\\" was sealed with the key [0-9a-f]{8}/,
  ],
  ["nothing but a conversation's secret",
    (program) => startTalk(program, { secrets: { MY_TOKEN: { kind: 'StaticSecret', value: 'a-secret-value' } } }),
    /Something in the data folder may be sealed with the key [0-9a-f]{8}/],
]

for (const [what, make, named] of sealed) {
  test(`another key is named at the start where it sealed ${what}`, withPrograms(async (start, folder) => {
    const before = await start(first)
    await make(before)
    assert.is((await before.rest.get('/ready')).status, 200)
    await before.stop('SIGTERM')
    const wrong = await start(second)
    assert.match(wrong.stderr(), named)
    const ready = await wrong.rest.get('/ready')
    assert.is(ready.status, 503)
    assert.match(JSON.stringify(ready.json), 'Stored secrets cannot be opened')
    assert.not.match(JSON.stringify(ready.json), /[0-9a-f]{8}/)
    await wrong.stop('SIGTERM')
    const doctor = await runToEnd(['doctor', ...second, ...dirs(folder)], folder)
    assert.is(doctor.code, 1)
    assert.match(JSON.stringify(doctor.stdout), named)
    assert.match(doctor.stdout, /^problem +stored secrets /m)
    const verify = await runToEnd(['verify', ...second, ...dirs(folder)], folder)
    assert.is(verify.code, 1)
    assert.match(JSON.stringify(verify.stdout), named)
    await assertSound(start, folder, both)
  }))
}

test('without the keys folder a restored backup says that its key is missing', withPrograms(async (start, folder) => {
  const before = await start()
  await before.rest.put('/api/settings/secrets', { name: 'TOKEN_ONE', value: 'a-secret-value' })
  await before.stop('SIGTERM')
  rmSync(join(folder, 'data', 'keys'), { recursive: true })
  assert.match(
    (await runToEnd(['doctor', ...dirs(folder)], folder)).stdout,
    /^problem +stored secrets .*secrets\.json": it was sealed with the key/m,
  )
  const wrong = await start()
  assert.is((await wrong.rest.get('/ready')).status, 503)
  await wrong.stop('SIGTERM')
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
