/**
 * Several servers in one process, mounted under paths of one `http.Server`: nothing of one is seen in another, a fault
 * in one is not felt in another, and nothing is left of them after `close`.
 */
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createAgentServer, type AgentServer, type AgentServerOptions } from '../../src/index.ts'
import { makeFolder, until } from '../support/processes.ts'
import { member, rest, type Rest } from '../support/rest.ts'
import { fakeAgent } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { connect, Refused, type Client } from '../support/ws-client.ts'

const test = suite('several servers')

interface Mounted {
  readonly server: AgentServer
  readonly rest: Rest
  readonly log: readonly string[]
  readonly dataDir: string
  socket(id: string, key?: string): Promise<Client>
}

/** Mounts a server for each path on one host. */
async function withMounted(
  options: Readonly<Record<string, Partial<AgentServerOptions>>>,
  body: (mounted: readonly Mounted[], url: string) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const host = createServer((request, response) => {
    const found = servers.find(({ path }) => request.url?.startsWith(`${path}/`))
    if (found === undefined) response.end('a page of the host')
    else found.server.handlers.request(request, response)
  })
  host.on('upgrade', (request, socket, head) => {
    const found = servers.find(({ path }) => request.url?.startsWith(`${path}/`))
    if (found === undefined) socket.destroy()
    else found.server.handlers.upgrade(request, socket, head)
  })
  const servers = await Promise.all(Object.entries(options).map(async ([path, own]) => {
    const log: string[] = []
    const dataDir = join(folder, path, 'data')
    const key = `key-of-${path}`
    const server = await createAgentServer({
      dataDir, workspaceDir: join(folder, path, 'work'), basePath: path, sessionApiKeys: [key], logLevel: 'debug',
      writeLog: (line) => void log.push(line), ...own,
    })
    return { path, server, log, dataDir, key }
  }))
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const address = host.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  try {
    await body(servers.map(({ path, server, log, dataDir, key }) => ({
      server, log, dataDir,
      rest: rest(`${url}${path}`, key),
      socket: (id, other = key) => connect(`${url}${path}/sockets/events/${id}`, { 'X-Session-API-Key': other }),
    })), url)
  } finally {
    await Promise.all(servers.map(({ server }) => server.close()))
    host.closeAllConnections()
    host.close()
    await once(host, 'close')
    remove()
  }
}

/** Sends a message and waits until the run has ended; returns the status. */
async function runToEnd({ server }: Mounted, id: string, text: string): Promise<string> {
  const talk = await server.conversation(id)
  await talk.send(text)
  await until(async () => ['finished', 'error'].includes((await talk.summary()).status))
  return (await talk.summary()).status
}

test('each server has the settings, keys, limits, time and log of its own', () =>
  withMounted({
    '/one': { clock: () => Date.UTC(2031, 0, 2), bodyLimitBytes: 1024 },
    '/deep/two': { clock: () => Date.UTC(2032, 0, 2), parts: ['none'] },
  }, async ([one, two], url) => {
    assert.ok(one !== undefined && two !== undefined)
    assert.is(await (await fetch(`${url}/`)).text(), 'a page of the host')
    const first = await one.server.createConversation({ agent: fakeAgent('echo') })
    const second = await two.server.createConversation({ agent: fakeAgent('echo') })
    assert.is((await one.rest.get(`/api/conversations/${first.id}`)).status, 200)
    assert.is((await two.rest.get(`/api/conversations/${first.id}`)).status, 404)
    assert.is((await rest(`${url}/deep/two`, 'key-of-/one').get('/api/settings')).status, 401)
    const large = { title: 'x'.repeat(2000) }
    assert.is((await one.rest.patch(`/api/conversations/${first.id}`, large)).status, 413)
    assert.is.not((await two.rest.patch(`/api/conversations/${second.id}`, large)).status, 413)
    assert.is((await one.rest.get('/docs')).status, 200)
    assert.is((await two.rest.get('/docs')).status, 501)
    await one.rest.put('/api/settings/secrets', { name: 'ONLY_FIRST', value: 'a-secret-of-the-first' })
    assert.equal((await two.rest.get('/api/settings/secrets')).json, { secrets: [] })
    assert.not.match(one.server.mask('a-secret-of-the-first'), 'a-secret-of-the-first')
    assert.is(two.server.mask('a-secret-of-the-first'), 'a-secret-of-the-first')
    assert.is(await runToEnd(one, first.id, 'hello'), 'finished')
    assert.is(await runToEnd(two, second.id, 'hello'), 'finished')
    assert.match((await first.summary()).createdAt, '2031-01-02')
    assert.match((await second.summary()).createdAt, '2032-01-02')
    assert.not.match(one.log.join(''), second.id)
    assert.not.match(two.log.join(''), first.id)
  }))

test('below its base path a server answers with addresses below it, and nowhere else', () =>
  withMounted({ '/agents': {} }, async ([agents], url) => {
    assert.ok(agents !== undefined)
    const { id } = await agents.server.createConversation({ agent: fakeAgent('echo') })
    const moved = await agents.rest.get(`/api/conversations/${id}/?a=b`)
    assert.equal([moved.status, moved.headers.location], [307, `/agents/api/conversations/${id}?a=b`])
    const session = await agents.rest.post('/api/auth/workspace-session')
    assert.equal(session.headers['set-cookie']?.every((cookie) => cookie.includes('Path=/agents/api/')), true)
    assert.equal(member((await agents.rest.get('/openapi.json')).json, 'servers'), [{ url: '/agents' }])
    assert.is((await agents.rest.get('/alive')).status, 200)
    assert.is((await rest(`${url}/agents`, undefined).get('/agents/alive')).status, 404)
    const socket = await agents.socket(id)
    assert.match(await socket.next(), 'full_state')
    const wrong = await agents.socket(id, 'key-of-another').catch((thrown: unknown) => thrown)
    assert.is(wrong instanceof Refused ? wrong.status : 0, 403)
    await agents.server.close()
    assert.is((await socket.closed).code, 1012)
  }))

test('a fault in one server is not felt in another', () =>
  withMounted({ '/one': {}, '/two': {} }, async ([one, two]) => {
    assert.ok(one !== undefined && two !== undefined)
    const first = await one.server.createConversation({ agent: fakeAgent('exit-talking') })
    const second = await two.server.createConversation({ agent: fakeAgent('echo') })
    const reader = await two.socket(second.id)
    assert.is(await runToEnd(one, first.id, 'hello'), 'error')
    rmSync(one.dataDir, { recursive: true, force: true })
    await first.send('to a history that is gone').catch(() => undefined)
    await one.server.close()
    assert.is((await one.rest.get('/ready')).status, 503)
    assert.is((await two.rest.get('/ready')).status, 200)
    assert.is(await runToEnd(two, second.id, 'hello'), 'finished')
    assert.match(await reader.next(), 'full_state')
  }))

/** The kinds of active resources, open descriptors and children of this process. */
function held(): { resources: string[], descriptors: number, children: string[] } {
  const resources = process.getActiveResourcesInfo().filter((kind) => !kind.includes('FSReq')).sort()
  const children = readdirSync('/proc/self/task').flatMap((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ')
  })
  return { resources, descriptors: readdirSync('/proc/self/fd').length, children }
}

/** The listeners on the process, by event. */
function listeners(): unknown {
  return process.eventNames().map((name) => [String(name), process.listenerCount(name)])
}

test('after close no handle, child, listener or timer of several servers is left', async () => {
  // The first round starts the threads and the timers that Node keeps for itself.
  await busyRound()
  const before = { ...held(), listeners: listeners() }
  await busyRound()
  await until(() => held().resources.length <= before.resources.length)
  const after = held()
  // A timer of the first round may end in the second: less than before is no fault.
  const left = [...before.resources]
  const more = after.resources.filter((kind) => !left.includes(kind) || left.splice(left.indexOf(kind), 1).length === 0)
  assert.equal([more, after.children, listeners()], [[], before.children, before.listeners])
  assert.ok(after.descriptors <= before.descriptors, `${after.descriptors} open files, ${before.descriptors} before`)
}, 120_000)

/** Three servers that listen, are mounted and have agents, sockets and streams that nobody ends. */
async function busyRound(): Promise<void> {
  const options = { '/one': {}, '/two': { metrics: true }, '/three': { keepAliveTimeoutMs: 60_000 } }
  await withMounted(options, async (all) => {
    for (const mounted of all) {
      const running = await mounted.server.createConversation({ agent: fakeAgent('never') })
      await running.send('hello')
      await until(async () => (await running.summary()).status === 'running')
      const built = await mounted.server.createConversation({
        agent: { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] },
      })
      assert.is(await runToEnd(mounted, built.id, 'do some work'), 'finished')
      await mounted.socket(running.id)
      void running.watch({ from: 'beginning', signal: new AbortController().signal }).next()
    }
    await Promise.all(all.flatMap(({ server }) => [server.close(), server.close()]))
  })
}

test.run()
