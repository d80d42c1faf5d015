/**
 * Credentials of external agents from outside: the message where one is missing, files that come back, folders that
 * stay.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { SecretFolder } from '../../src/process/secret-folder.ts'
import { instanceOf } from '../../src/storage/data-folder-claim.ts'
import { isStopped, until } from '../support/processes.ts'
import { listAt, member } from '../support/rest.ts'
import { credentialAgent, withPrograms, withServer, type Program, type Reachable } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, type Talk } from './talk.ts'

const test = suite('credentials')

const name = 'CODEX_AUTH_JSON'
const login = (token: string): string =>
  JSON.stringify({ tokens: { refresh_token: token, access_token: `access-of-${token}` } })

async function putSecret({ rest }: Reachable, value: string, secretName = name): Promise<void> {
  assert.is((await rest.put('/api/settings/secrets', { name: secretName, value })).status, 200)
}

async function secretOf({ rest }: Reachable): Promise<string> {
  return (await rest.get(`/api/settings/secrets/${name}`)).text
}

async function says(talk: Talk, prompt: string): Promise<string> {
  await talk.send(prompt)
  await talk.reaches('finished')
  return messagesOf(await talk.events(), 'agent').at(-1) ?? ''
}

/** Where an agent of this conversation finds its login. */
function fileOf(dataDir: string, { id }: Talk): string {
  return join(dataDir, 'conversations', id, 'acp/codex/auth.json')
}

/** Where a server on this data folder has secrets in plain. */
async function memoryOf(dataDir: string): Promise<readonly string[]> {
  return new SecretFolder({
    instance: await instanceOf(dataDir), environment: {}, runtimeDir: join(dataDir, 'runtime'),
  }).paths
}

/** Returns the names of the files in memory, without the note. */
async function secretsLeft(dataDir: string): Promise<string[]> {
  const names = (await memoryOf(dataDir)).flatMap((path) => (existsSync(path) ? readdirSync(path) : []))
  return names.filter((name) => name !== 'secret-folder.json')
}

for (const place of ['session', 'prompt']) {
  test(
    `without a credential at the ${place} the state says what is missing; the secret is stored, and the same conversation runs`,
    () =>
      withServer(async (server) => {
        const talk = await startTalk(server, { agent: credentialAgent(place) })
        await talk.send('show')
        await talk.reaches('error')
        const { json } = await talk.get()
        assert.equal(member(json, 'agent_state', 'acp_login'), 'no')
        const required = member(json, 'agent_state', 'acp_auth_required')
        assert.equal(
          [member(required, 'api_key_variable'), listAt(required, 'methods').map((method) => member(method, 'id'))],
          ['OPENAI_API_KEY', ['api-key', 'chat-gpt', 'gateway']],
        )
        const failure = (await talk.events()).find(({ kind }) => kind === 'ConversationErrorEvent')
        assert.is(failure?.['code'], 'ACPAuthRequired')
        assert.match(String(failure?.['detail']), /OPENAI_API_KEY.*codex login/)
        await putSecret(server, 'a-key-of-the-user', 'OPENAI_API_KEY')
        await talk.runAgain()
        await talk.reaches('finished')
        assert.is(member((await talk.get()).json, 'agent_state', 'acp_auth_required'), null)
        assert.match(messagesOf(await talk.events(), 'agent').join(), 'CODEX_CONFIG')
        assert.is(outline(await talk.events()).filter((word) => word === 'user message').length, 1)
      }),
  )
}

test('a login that a program renews is the next one\'s, in the secret it came from and nowhere to be read', () =>
  withServer(async (server) => {
    await putSecret(server, login('first-token'))
    const talk = await startTalk(server, { agent: credentialAgent() })
    const path = fileOf(server.dataDir, talk)
    assert.not.match(await says(talk, 'show'), /CODEX_AUTH_JSON|first-token/)
    for (const [word, token] of [['write', 'second-token'], ['swap', 'third-token']]) {
      await says(talk, `${word} ${path} ${login(token ?? '')}`)
      assert.is(await secretOf(server), login(token ?? ''))
    }
    await says(talk, `remove ${path}`)
    assert.is(await secretOf(server), login('third-token'))
    assert.is(
      await says(talk, 'say of third-token and access-of-third-token'), 'of <secret-hidden> and <secret-hidden>',
    )
    assert.not.match(server.log.join('\n'), /(?:first|second|third)-token/)
    assert.not.match(readFileSync(join(server.dataDir, 'secrets.json'), 'utf8'), 'token"')
    assert.is((await server.rest.delete(talk.path)).status, 200)
    assert.equal(await secretsLeft(server.dataDir), [])
    const next = await startTalk(server, { agent: credentialAgent('prompt') })
    assert.match(await says(next, 'show'), 'CODEX_HOME')
  }))

test('a secret that the user has changed meanwhile stays, and the log says so', () =>
  withServer(async (server) => {
    await putSecret(server, login('first-token'))
    const talk = await startTalk(server, { agent: credentialAgent() })
    await says(talk, 'show')
    await putSecret(server, login('of-the-user'))
    await says(talk, `write ${fileOf(server.dataDir, talk)} ${login('of-the-program')}`)
    assert.is(await secretOf(server), login('of-the-user'))
    assert.ok(server.log.some((line) => line.includes('changed meanwhile')))
    assert.not.match(server.log.join('\n'), /of-the-(?:user|program)/)
  }))

test(
  'a login of one conversation goes back into that conversation, sealed, and is there after a restart',
  withPrograms(async (start) => {
    const first = await start()
    const secrets = { [name]: { kind: 'StaticSecret', value: login('first-token') } }
    const talk = await startTalk(first, { agent: credentialAgent(), secrets })
    const path = fileOf(first.dataDir, talk)
    // Kept apart, so that no message holds the value.
    const kept = join(first.dataDir, '..', 'renewed.json')
    writeFileSync(kept, login('second-token'))
    await says(talk, 'show')
    writeFileSync(path, readFileSync(kept))
    await says(talk, 'show')
    await first.stop('SIGTERM')
    assert.not.match(
      readFileSync(join(first.dataDir, 'conversations', talk.id, 'events.jsonl'), 'utf8'), 'second-token',
    )
    const second = await start()
    await says(talkTo(second, talk.id), 'show')
    assert.is(readFileSync(path, 'utf8'), login('second-token'))
    await second.stop('SIGTERM')
  }),
)

test('what a program has renewed is found again after the server was killed', withPrograms(async (start) => {
  const first = await start()
  await putSecret(first, login('first-token'))
  const talk = await startTalk(first, { agent: credentialAgent() })
  await says(talk, 'show')
  const path = fileOf(first.dataDir, talk)
  // The server sees nothing of it any more.
  first.child.kill('SIGSTOP')
  writeFileSync(path, login('second-token'))
  await first.stop('SIGKILL')
  const second = await start()
  assert.is(await secretOf(second), login('second-token'))
  assert.equal(await secretsLeft(second.dataDir), [])
  assert.match(await says(talkTo(second, talk.id), 'show'), 'CODEX_HOME')
  assert.is(readFileSync(path, 'utf8'), login('second-token'))
  await second.stop('SIGTERM')
  assert.not.ok(existsSync(path))
}))

test('a copy of the data folder while the program runs holds no lent file', withPrograms(async (start) => {
  const program = await start()
  await putSecret(program, login('first-token'))
  const talk = await startTalk(program, { agent: credentialAgent() })
  await says(talk, 'show')
  const path = fileOf(program.dataDir, talk)
  assert.is(readFileSync(path, 'utf8'), login('first-token'))
  assert.is((await secretsLeft(program.dataDir)).length, 1)
  // Otherwise a file that is being replaced goes between its listing and its reading.
  program.child.kill('SIGSTOP')
  await until(() => isStopped(program.child.pid ?? 0))
  for (const name of readdirSync(program.dataDir, { recursive: true }).map(String)) {
    const file = join(program.dataDir, name)
    if (lstatSync(file).isFile()) assert.not.ok(readFileSync(file, 'latin1').includes('first-token'), name)
  }
  program.child.kill('SIGCONT')
  await program.stop('SIGTERM')
  assert.equal(await secretsLeft(program.dataDir), [])
}))

test(
  'a renewed login waits for a server that has the key, and is lost only when memory is, as after a reboot',
  withPrograms(async (start) => {
    const withKey = ['--secret-key', 'the-first-key-of-all']
    const first = await start(withKey)
    await putSecret(first, login('first-token'))
    const talk = await startTalk(first, { agent: credentialAgent() })
    const renewAndKill = async (program: Program, token: string): Promise<void> => {
      await says(talkTo(program, talk.id), 'show')
      program.child.kill('SIGSTOP')
      writeFileSync(fileOf(program.dataDir, talk), login(token))
      await program.stop('SIGKILL')
    }
    await renewAndKill(first, 'second-token')
    const wrong = await start(['--secret-key', 'the-second-key-of-all'])
    assert.match(wrong.stderr(), 'A credential file of a killed server could not be stored and is kept')
    await wrong.stop('SIGTERM')
    const both = [...withKey, '--old-secret-key', 'the-second-key-of-all']
    const second = await start(both)
    assert.is(await secretOf(second), login('second-token'))
    await renewAndKill(second, 'third-token')
    for (const path of await memoryOf(second.dataDir)) rmSync(path, { recursive: true, force: true })
    const third = await start(both)
    assert.is(await secretOf(third), login('second-token'))
    assert.match(await says(talkTo(third, talk.id), 'show'), 'CODEX_HOME')
    assert.is(readFileSync(fileOf(third.dataDir, talk), 'utf8'), login('second-token'))
    await third.stop('SIGTERM')
  }),
)

test(
  'a data folder of the conversation outlives its program and the server, and goes with the conversation',
  withPrograms(async (start) => {
    const first = await start()
    const talk = await startTalk(first, { agent: { ...credentialAgent(), acp_isolate_data_dir: true } })
    const folder = join(first.dataDir, 'conversations', talk.id, 'acp/codex')
    assert.match(await says(talk, 'show'), JSON.stringify(folder))
    mkdirSync(join(folder, 'sessions'))
    await first.stop('SIGTERM')
    const second = await start()
    assert.match(await says(talkTo(second, talk.id), 'show'), JSON.stringify(folder))
    assert.ok(existsSync(join(folder, 'sessions')))
    await second.rest.delete(talk.path)
    await until(() => !existsSync(folder))
    await second.stop('SIGTERM')
  }),
)

test.run()
