/** The socket of commands: who gets in, the frames and their order, and wrong frames. */
import * as assert from 'uvu/assert'
import { member, textAt } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { connect, Refused, type Client } from '../../support/ws-client.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/bash socket')

function open({ url, key }: TestServer, query = ''): Promise<Client> {
  return connect(`${url}/sockets/bash-events?session_api_key=${key}${query}`)
}

async function next(client: Client): Promise<unknown> {
  return JSON.parse(await client.next())
}

test('tells each socket of every command in order, or of its own once it has sent one', () => withServer(async (server) => {
  const [one, two, three] = [await open(server), await open(server), await open(server, '&resend_mode=all')]
  one.send(JSON.stringify({ command: 'echo first', timeout: 30 }))
  const command = await next(one)
  assert.equal([member(command, 'kind'), member(command, 'command')], ['BashCommand', 'echo first'])
  const output = await next(one)
  assert.equal([member(output, 'command_id'), member(output, 'stdout')], [textAt(command, 'id'), 'first\n'])
  await server.rest.post('/api/bash/execute_bash_command', { command: 'echo second' })
  const kinds: unknown[] = []
  for (let count = 0; count < 4; count++) kinds.push(member(await next(two), 'kind'))
  assert.equal(kinds, ['BashCommand', 'BashOutput', 'BashCommand', 'BashOutput'])
  one.send(JSON.stringify({ command: 'echo third', timeout: 30 }))
  assert.is(member(await next(one), 'command'), 'echo third')
  three.send(JSON.stringify({ command: 'echo fourth', timeout: 30 }))
  const commands: unknown[] = []
  while (commands.length < 4) {
    const event = await next(three)
    if (member(event, 'kind') === 'BashCommand') commands.push(member(event, 'command'))
  }
  assert.equal(commands, ['echo first', 'echo second', 'echo third', 'echo fourth'])
  await Promise.all([one.close(), two.close(), three.close()])
}))

test('sends the history to a socket that asks for it', () => withServer(async (server) => {
  await server.rest.post('/api/bash/execute_bash_command', { command: 'echo one' })
  const stored = (await server.rest.get('/api/bash/bash_events/search')).json
  for (const query of ['&resend_mode=all', '&resend_all=true']) {
    const client = await open(server, query)
    assert.equal([await next(client), await next(client)], member(stored, 'items'))
    await client.close()
  }
}))

test('answers a wrong frame to its sender and stays open', () => withServer(async (server) => {
  const client = await open(server)
  const wrong = [['{', 'JSONDecodeError'], ['{}', 'ValidationError'], ['[]', 'ValidationError']] as const
  for (const [frame, code] of wrong) {
    client.send(frame)
    const error = await next(client)
    assert.equal([member(error, 'kind'), member(error, 'code')], ['BashError', code])
  }
  client.send(JSON.stringify({ type: 'auth', session_api_key: 'x' }))
  client.send(JSON.stringify({ command: 'true' }))
  assert.is(member(await next(client), 'kind'), 'BashCommand')
  await client.close()
}))

test('takes the key in the first frame, and nobody without one', () => withServer(async (server) => {
  const address = `${server.url}/sockets/bash-events`
  const client = await connect(address)
  client.send(JSON.stringify({ type: 'auth', session_api_key: server.key }))
  client.send(JSON.stringify({ command: 'true' }))
  assert.is(member(await next(client), 'kind'), 'BashCommand')
  await client.close()
  const stranger = await connect(address)
  stranger.send(JSON.stringify({ command: 'true' }))
  assert.is((await stranger.closed).code, 4001)
  const refused: unknown = await connect(`${address}?session_api_key=wrong`).catch((thrown: unknown) => thrown)
  assert.ok(refused instanceof Refused && refused.status === 403)
  const foreign: unknown = await connect(`${address}?session_api_key=${server.key}`, { Origin: 'https://evil.example' })
    .catch((thrown: unknown) => thrown)
  assert.ok(foreign instanceof Refused && foreign.status === 403)
}))

test('refuses a mode that it does not know, and more sockets than its limit', () => withServer(async (server) => {
  assert.is((await (await open(server, '&resend_mode=since')).closed).code, 1008)
  const clients = await Promise.all(Array.from({ length: 50 }, () => open(server)))
  const late = await open(server)
  assert.is((await late.closed).code, 1013)
  await Promise.all(clients.map((client) => client.close()))
}))

test('is answered with 501 without its part', () => withServer(async (server) => {
  const refused: unknown = await open(server).catch((thrown: unknown) => thrown)
  assert.ok(refused instanceof Refused && refused.status === 501)
  assert.is((await server.rest.post('/api/bash/execute_bash_command', { command: 'true' })).status, 501)
}, { parts: ['files'] }))

test('ends with 1012 when the server closes', async () => {
  let closed: Promise<{ code: number }> | undefined
  await withServer(async (server) => {
    const client = await open(server)
    client.send(JSON.stringify({ command: 'true' }))
    await next(client)
    closed = client.closed
  })
  assert.is((await closed)?.code, 1012)
})

test.run()
