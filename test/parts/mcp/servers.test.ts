/**
 * The MCP servers of a conversation: started side by side, waited for a little, started again, told of in the state.
 */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import type { McpHost } from '../../../src/parts/mcp/connect.ts'
import { LoginRequiredError } from '../../../src/parts/mcp/oauth/logins.ts'
import type { ServerLimits } from '../../../src/parts/mcp/server.ts'
import { McpServers } from '../../../src/parts/mcp/servers.ts'
import { withMcpServers } from '../../../src/parts/mcp/tool-set.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { startChild } from '../../../src/process/child.ts'
import type { Observation } from '../../../src/schema/generated/observations.ts'
import { toMcpServer, type McpServerInput } from '../../../src/schema/generated/settings.ts'
import { startMcpHttp } from '../../fixtures/mcp-http.ts'
import { toolNames } from '../../fixtures/mcp-session.ts'
import { isAlive, until } from '../../support/processes.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'
import { stdioProgram } from './carriers.ts'

const test = suite('agents/mcp/servers')

const refuse = (): Promise<string> => Promise.reject(new LoginRequiredError())
const noLogins: McpHost['logins'] = { bearer: () => ({ token: refuse, renewed: refuse }), find: async () => undefined }

interface World {
  readonly servers: McpServers
  readonly pids: readonly number[]
  readonly log: readonly string[]
  /** name:type:status:detail of each server. */
  states(): string[]
  names(): Promise<string[]>
  call(name: string, args?: JsonObject): Promise<Observation>
  /** Milliseconds that the clock shows. */
  now: number
}

interface Options {
  readonly logins?: McpHost['logins']
  readonly limits?: Partial<ServerLimits>
  readonly taken?: readonly string[]
  readonly filter?: (name: string) => boolean
  readonly secrets?: Readonly<Record<string, string>>
}

async function withServers(
  settings: Readonly<Record<string, McpServerInput>>, body: (world: World) => Promise<void>, options: Options = {},
): Promise<void> {
  const pids: number[] = []
  const log: string[] = []
  const secrets = new Map(Object.entries(options.secrets ?? {}))
  let state: JsonObject = {}
  let tools: readonly Tool[] = []
  const mask = (text: string): string =>
    [...secrets.values()].reduce((shown, value) => shown.replaceAll(value, '<hidden>'), text)
  const note = (message: string, fields: object = {}): void => void log.push(`${message} ${JSON.stringify(fields)}`)
  const servers = new McpServers({
    settings: Object.fromEntries(Object.entries(settings).map(([name, server]) => [name, toMcpServer(server)])),
    conversation: {
      workingDir: '/',
      mask,
      secrets: async (_signal, wanted = () => true) => new Map([...secrets].filter(([name]) => wanted(name))),
      state: (changes) => void (state = changes),
    },
    host: {
      environment: { PATH: process.env['PATH'], HOME: '/home/of-the-server', AGENT_SERVER_SECRET_KEY: 'k' },
      passEnvironment: [],
      instanceId: 'test',
      createId: () => `mcp-${process.pid}-${pids.length}`,
      version: '1',
      logins: options.logins ?? noLogins,
      startProcess: async (child) => {
        const started = await startChild(child)
        pids.push(started.pid)
        return started
      },
    },
    limits: { startTimeoutMs: 60_000, patienceMs: 20_000, ...options.limits },
    filter: async (names) => names.filter(options.filter ?? (() => true)),
    clock: () => world.now,
    log: { debug: note, info: note, warn: note, error: note },
  }, new Set(options.taken ?? []))
  const world: World = {
    servers,
    pids,
    log,
    now: 1_000_000,
    states: () => Object.values(state['mcp_servers'] ?? []).map((one) => Object.values(Object(one)).join(':')),
    async names() {
      tools = await servers.tools(never())
      // The state is told behind them.
      await new Promise((resolve) => setImmediate(resolve))
      return tools.map(({ name }) => name)
    },
    async call(name, args = {}) {
      const tool = tools.find((one) => one.name === name)
      if (tool === undefined) throw new Error(`There is no tool ${name}`)
      const read = tool.read(args)
      if (!read.ok) throw new Error(read.problem)
      return tool.run(read.action, { id: 'c', signal: never() })
    },
  }
  try {
    await body(world)
  } finally {
    await servers.close()
    await servers.close()
    assert.equal(pids.filter(isAlive), [])
  }
}

function program(word: string, more: McpServerInput = {}): McpServerInput {
  return { command: process.execPath, args: [stdioProgram, word], ...more }
}

function textOf({ content }: Observation): string {
  return content.map((part) => (part.type === 'text' ? part.text : 'image')).join('|')
}

test('gives the tools of all servers in the order of the settings, and starts none that is disabled', () => {
  return withServers({ a: program('pages'), off: program('usual', { enabled: false }), b: program('usual') }, async (
    { names, states, pids, call },
  ) => {
    assert.equal(await names(), ['page-0', 'page-1', 'page-2', ...toolNames])
    assert.equal(states(), ['a:stdio:ready', 'off:stdio:disabled', 'b:stdio:ready'])
    assert.is(pids.length, 2)
    assert.is(textOf(await call('echo', { text: 'hi' })), "[Tool 'echo' executed.]|hi")
    await names()
    assert.is(pids.length, 2)
  })
})

test('a server whose login takes for ever blocks nobody, and ends with the conversation', () => {
  const forEver = (signal: AbortSignal): Promise<string> => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  const logins = { ...noLogins, bearer: () => ({ token: forEver, renewed: async () => 'x' }) }
  const settings = {
    far: { url: 'http://127.0.0.1:1/mcp', auth: { strategy: 'oauth2' } },
    near: { command: process.execPath, args: [stdioProgram, 'usual'] },
  } as const
  return withServers(settings, async ({ names, states }) => {
    await until(async () => (await names()).includes('echo'))
    assert.equal(states(), ['far:http:starting', 'near:stdio:ready'])
  }, { logins, limits: { patienceMs: 50 } })
})

test('a server that needs a login says so, and has its tools with the step after it', async () => {
  const far = await startMcpHttp()
  let token: string | undefined
  const give = async (): Promise<string> => token ?? refuse()
  const logins = { ...noLogins, bearer: () => ({ token: give, renewed: give }) }
  await withServers({ far: { url: far.url, auth: { strategy: 'oauth2' } } }, async ({ names, states }) => {
    assert.equal(await names(), [])
    assert.equal(states(), [
      'far:http:needs_login:Nobody is signed in to the server: expected a login by POST /api/mcp/oauth/start',
    ])
    token = 'the-token'
    assert.equal(await names(), toolNames)
    assert.equal(states(), ['far:http:ready'])
  }, { logins })
  await far.close()
})

test('waits neither for a server that hangs nor for one that is slow, and has the slow one later', () => {
  return withServers({ stuck: program('hangs'), slow: program('slow') }, async ({ names, states }) => {
    assert.equal(await names(), [])
    assert.equal(states(), ['stuck:stdio:starting', 'slow:stdio:starting'])
    await until(async () => (await names()).length > 0)
    assert.equal(states(), ['stuck:stdio:starting', 'slow:stdio:ready'])
  }, { limits: { patienceMs: 1 } })
})

test('gives up a start that takes too long, and does not wait for the next one', () => {
  return withServers({ stuck: program('hangs') }, async ({ names, states, pids }) => {
    assert.equal(await names(), [])
    assert.equal(states(), ['stuck:stdio:failed:The server was not ready within 500 ms'])
    assert.equal(await names(), [])
    assert.equal(states(), ['stuck:stdio:starting'])
    await until(() => pids.length === 2)
  }, { limits: { startTimeoutMs: 500 } })
})

test('stops waiting when the step is stopped', () => withServers({ stuck: program('hangs') }, async ({ servers }) => {
  const stop = new AbortController()
  const waiting = servers.tools(stop.signal)
  stop.abort(new Error('paused'))
  assert.match(String(await failure(waiting)), 'paused')
}))

test('tells why a server failed, without its secrets, and tries again later and later', () => {
  return withServers(
    { broken: program('crashes', { env: { API_KEY: 'key ${TOKEN}' } }), gone: { command: 'no-such-program' } },
    async (world) => {
      const tries = async (): Promise<number> => {
        await world.names()
        await until(() => world.states().every((state) => state.includes('failed')))
        return world.pids.length
      }
      assert.is(await tries(), 1)
      assert.equal(world.states(), [
        'broken:stdio:failed:The server exited with code 3: no good: key <hidden>',
        'gone:stdio:failed:Cannot start "no-such-program": there is no such program in the PATH',
      ])
      assert.is(await tries(), 2)
      assert.is(await tries(), 2)
      world.now += 1000
      assert.is(await tries(), 3)
      world.now += 1999
      assert.is(await tries(), 3)
      world.now += 1
      assert.is(await tries(), 4)
    },
    { secrets: { TOKEN: 'token-of-the-user' } },
  )
})

test('a server that dies in a call fails the call, and is there again at the next step', () => {
  return withServers({ a: program('usual') }, async ({ names, call, states, pids }) => {
    await names()
    const observation = await call('dies')
    assert.ok(observation.is_error)
    assert.is(textOf(observation), 'The server exited with code 7: out of luck')
    await until(() => states()[0]?.includes('failed') === true)
    assert.match(textOf(await call('echo')), 'The server of this tool is gone: The server exited with code 7')
    assert.is((await names()).length, toolNames.length)
    assert.is(pids.length, 2)
    assert.is(textOf(await call('echo', { text: 'b' })), "[Tool 'echo' executed.]|b")
  })
})

test('a session that lasted is started again at once, one that did not after a pause', () => {
  return withServers({ a: program('usual') }, async (world) => {
    const dies = async (): Promise<void> => {
      await world.call('dies')
      await until(() => world.states()[0]?.includes('failed') === true)
    }
    await world.names()
    await dies()
    await world.names()
    await dies()
    assert.equal(await world.names(), [])
    world.now += 1000
    assert.is((await world.names()).length, toolNames.length)
    world.now += 60_001
    await dies()
    assert.is((await world.names()).length, toolNames.length)
  })
})

test('a server that announces other tools has them at the next step', () => {
  return withServers({ a: program('usual') }, async ({ names, call }) => {
    await names()
    await call('grows')
    assert.is((await names()).at(-1), 'grown_1')
    assert.equal((await call('grown_1')).is_error, true)
  })
})

test('a call whose session the server has forgotten is done in a new one', async () => {
  const http = await startMcpHttp({})
  await withServers({ far: { url: http.url, headers: { 'X-Key': '${TOKEN}' } } }, async ({ names, call, states }) => {
    await names()
    http.forget()
    assert.is(textOf(await call('echo', { text: 'still' })), "[Tool 'echo' executed.]|still")
    assert.equal(states(), ['far:http:ready'])
    assert.is(http.seen.filter(({ says }) => says === 'initialize').length, 2)
    assert.is(http.seen[0]?.headers['x-key'], 'token-of-the-user')
    http.forget()
    assert.match(textOf(await call('echo')), 'The server has forgotten the session')
  }, { secrets: { TOKEN: 'token-of-the-user' } })
  await http.close()
})

test('a name is given once: a server with one that is taken counts as failed, the others work', () => {
  return withServers(
    { rude: program('rude'), a: program('pages'), b: program('pages'), c: program('usual') },
    async ({ names, states }) => {
      assert.equal(await names(), ['page-0', 'page-1', 'page-2', ...toolNames])
      assert.equal(states(), [
        'rude:stdio:failed:Cannot use its tools: the name "terminal" is taken', 'a:stdio:ready',
        'b:stdio:failed:Cannot use its tools: the name "page-0" is taken', 'c:stdio:ready',
      ])
    },
    { taken: ['terminal'] },
  )
})

test('gives only what the filter lets through', () => {
  return withServers(
    { a: program('usual') },
    async ({ names }) => assert.equal(await names(), ['echo', 'env']),
    { filter: (name) => name.startsWith('e') },
  )
})

test('a program gets the usual variables and those of its settings, and no secret that is not named', () => {
  return withServers(
    { a: program('usual', { env: { MY_TOKEN: '${TOKEN}', PATH: '/own', OTHER: '${NONE}' } }) },
    async ({ names, call }) => {
      await names()
      const told = textOf(await call('env'))
      const env: unknown = JSON.parse(told.slice(told.indexOf('{')))
      const { MY_TOKEN, PATH, OTHER, HOME, TOKEN, HIDDEN, AGENT_SERVER_SECRET_KEY } = Object(env)
      assert.equal([MY_TOKEN, PATH, OTHER, HOME], ['token-of-the-user', '/own', '${NONE}', '/home/of-the-server'])
      assert.equal([TOKEN, HIDDEN, AGENT_SERVER_SECRET_KEY], [undefined, undefined, undefined])
    },
    { secrets: { TOKEN: 'token-of-the-user', HIDDEN: 'another-secret' } },
  )
})

test('a server that prints banners works like any other', () => {
  return withServers({ loud: program('noisy') }, async ({ names, states, log }) => {
    assert.is((await names()).length, toolNames.length)
    assert.equal(states(), ['loud:stdio:ready'])
    assert.ok(log.some((line) => line.includes('Welcome!')))
  })
})

test('adds nothing to a conversation without servers, and closes with its other tools', async () => {
  let closed = 0
  const set = { tools: [], missing: [], close: async () => void closed++ }
  const options = {
    conversation: {
      workingDir: '/',
      mask: (text: string) => text,
      secrets: async () => new Map<string, string>(),
      state: () => undefined,
    },
    host: {
      environment: {}, passEnvironment: [], instanceId: 'test', createId: randomUUID, version: '1',
      startProcess: startChild, logins: noLogins,
    },
    limits: { startTimeoutMs: 1, patienceMs: 1 },
    filter: async (names: readonly string[]) => names,
    clock: () => 0,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  }
  assert.is(withMcpServers(set, { ...options, settings: {} }), set)
  const more = withMcpServers(set, { ...options, settings: { off: toMcpServer({ command: 'x', enabled: false }) } })
  assert.equal(await more.changing?.(never()), [])
  await more.close()
  assert.is(closed, 1)
})

function never(): AbortSignal {
  return new AbortController().signal
}

function ignore(): void {}

test.run()
