/**
 * The things that a host gives to a server in its own process: an agent, a model, tools, parts, a clock, a log, an
 * observer.
 */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  AppError, createAgentServer, type Agent, type AgentHost, type AgentServer, type AgentServerOptions,
  type ConversationHandle, type HostModel, type HostModelAnswer, type HostTool, type Log, type ObservedResponse,
  type Part, type Turn, type WatchedEvent,
} from '../../src/index.ts'
import { makeFolder, until } from '../support/processes.ts'
import { member } from '../support/rest.ts'
import { fakeAgent, withServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('embedding')
const ownKind = { kind: 'Agent', llm: { model: 'a-model-of-the-host' } } as const

/** A server that does not listen, in a folder of its own. */
async function withHost(
  options: Partial<AgentServerOptions>, body: (server: AgentServer, folder: string) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const server = await createAgentServer({
    dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), sessionApiKeys: ['key-of-the-host'], ...options,
  })
  try {
    await body(server, folder)
  } finally {
    await server.close()
    remove()
  }
}

/** Watches from the beginning to the end of the first run. */
async function firstRun(talk: ConversationHandle): Promise<WatchedEvent[]> {
  const stop = new AbortController()
  const seen: WatchedEvent[] = []
  for await (const event of talk.watch({ from: 'beginning', signal: stop.signal })) {
    seen.push(event)
    const isStatus = event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status'
    if (isStatus && ['finished', 'error'].includes(String(event.value))) stop.abort()
  }
  return seen
}

/** Repeats each message in upper case. */
class Loud implements Agent {
  readonly #host: AgentHost
  readonly closed: string[]

  constructor(host: AgentHost, closed: string[]) {
    this.#host = host
    this.closed = closed
  }

  async runTurn(turn: Turn): Promise<{ outcome: 'finished', served: true }> {
    for (const { id, llm_message: { content } } of turn.messages) {
      const text = content.flatMap((part) => (part.type === 'text' ? [part.text.toUpperCase()] : [])).join('')
      if (text === 'FAIL') throw new Error('The agent of the host is broken')
      turn.record({
        kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
      })
      turn.served(id)
    }
    return { outcome: 'finished', served: true }
  }

  policyChanged(): void {}

  async askAside(): Promise<never> {
    throw new AppError('bad_request', 'This agent answers no questions')
  }

  async close(): Promise<void> {
    this.closed.push(this.#host.conversationId)
  }
}

const loud = (closed: string[] = []) => (host: AgentHost, _log: Log): Agent => new Loud(host, closed)

test('an agent of the host drives conversations, in the history like any other', async () => {
  const closed: string[] = []
  await withHost({ agent: loud(closed), clock: () => Date.UTC(2031, 0, 2) }, async (server) => {
    const talk = await server.createConversation({ agent: ownKind })
    await talk.send('hello')
    await firstRun(talk)
    assert.is(await talk.finalResponse(), 'HELLO')
    const [answer] = (await talk.events({ kind: 'MessageEvent', source: 'agent' })).items
    assert.match(answer?.timestamp ?? '', /^2031-01-02T/)
    await server.close()
    assert.equal(closed, [talk.id])
  })
})

test('an agent of the host that throws ends its run with an error, and the next run works', () =>
  withHost({ agent: loud() }, async (server) => {
    const broken = await server.createConversation({ agent: ownKind })
    await broken.send('fail')
    const seen = await firstRun(broken)
    assert.ok(seen.some(({ kind }) => kind === 'ConversationErrorEvent'))
    const talk = await server.createConversation({ agent: ownKind })
    await talk.send('still there')
    await firstRun(talk)
    assert.is(await talk.finalResponse(), 'STILL THERE')
  }))

const weather: HostTool = {
  name: 'weather',
  description: 'Tells the weather of a place',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  isReadOnly: true,
  run: async ({ place }, { workingDir }) => {
    if (place === 'nowhere') throw new Error('There is no such place')
    return `Sun in ${String(place)}, seen from ${workingDir}`
  },
}

/** Asks for the weather of the place in the user's message, then repeats the result. */
const asking: HostModel = async ({ messages, tools, onText }) => {
  const last = messages.at(-1)
  const text = (last?.content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  if (last?.role !== 'tool') {
    assert.equal(tools.map(({ name }) => name), ['weather'])
    return { calls: [{ name: 'weather', arguments: { place: text } }], usage: { promptTokens: 7 } }
  }
  onText(`Result: ${text}`)
  return { text: `Result: ${text}`, usage: { promptTokens: 9, completionTokens: 3, cost: 0.5 } }
}

const agentWithWeather = { ...ownKind, tools: [{ name: 'weather' }], include_default_tools: [] }

test('a model and a tool of the host work for the built-in agent', () =>
  withHost({
    models: (name) => (name === ownKind.llm.model ? asking : undefined),
    tools: [weather],
  }, async (server) => {
    const talk = await server.createConversation({ agent: agentWithWeather })
    await talk.send('Oslo')
    const seen = await firstRun(talk)
    assert.is(await talk.finalResponse(), `Result: Sun in Oslo, seen from ${(await talk.summary()).workingDir}`)
    assert.ok(seen.some((event) => event.kind === 'ActionEvent' && event.tool_name === 'weather'))
    const failing = await server.createConversation({ agent: agentWithWeather })
    await failing.send('nowhere')
    await firstRun(failing)
    assert.match(await failing.finalResponse(), 'There is no such place')
  }))

test('a model of the host that throws ends the run with its words', () =>
  withHost({
    models: () => async () => {
      throw new Error('The model of the host is away')
    },
  }, async (server) => {
    const talk = await server.createConversation({ agent: ownKind })
    await talk.send('hello')
    const failed = (await firstRun(talk)).find(({ kind }) => kind === 'ConversationErrorEvent')
    assert.match(JSON.stringify(failed), 'The model of the host is away')
  }))

test('an argument that a REST route would refuse is refused, and nothing of it is stored', () =>
  withHost({}, async (server) => {
    const talk = await server.createConversation()
    const codeOf = (work: Promise<unknown>): Promise<unknown> => {
      return work.then(() => 'accepted', (thrown: unknown) => thrown instanceof AppError ? thrown.code : thrown)
    }
    // A host that is written in JavaScript can hand in any value.
    const wrong: Readonly<Record<string, never>> = JSON.parse('{ "title": 5, "tags": { "A B": "x" }, "text": {} }')
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      title: () => talk.change({ title: wrong['title'] ?? '' }),
      longTitle: () => talk.change({ title: 'x'.repeat(201) }),
      tags: () => talk.change({ tags: wrong['tags'] ?? {} }),
      send: () => talk.send(wrong['text'] ?? ''),
      respond: () => talk.respond({ accept: wrong['text'] ?? true }),
      events: () => talk.events({ limit: 0 }),
      conversations: () => server.conversations({ limit: 1.5 }),
      secret: () => server.secrets.put({ name: 'NAME', value: wrong['title'] ?? '' }),
    }
    const codes = await Promise.all(Object.entries(calls).map(async ([name, call]) => [name, await codeOf(call())]))
    const refused = Object.keys(calls).map((name) => [name, 'invalid_input'])
    assert.equal(Object.fromEntries(codes), Object.fromEntries(refused))
    const { title, tags } = await talk.summary()
    assert.equal([title, tags, (await talk.events({ kind: 'MessageEvent' })).items], [null, {}, []])
    assert.equal(await server.secrets.list(), [])
  }))

function ownPart(name: string): Part {
  return {
    name,
    about: 'Routes of the host',
    routes: { 'GET /host/count': 'read', 'GET /host/fault': 'read' },
    needs: ['load', 'config', 'sessionApiKeys'],
    load: async () => ({
      start: ({ load, config, sessionApiKeys }) => ({
        handlers: {
          'GET /host/count': () => {
            const body = Buffer.from(JSON.stringify({
              idle: load().conversations.statuses.get('idle'), config, keys: sessionApiKeys.length,
            }))
            return { status: 200, type: 'application/json', body }
          },
          'GET /host/fault': () => {
            throw new Error('A fault of the host')
          },
        },
      }),
    }),
  }
}

test('a part of the host has routes that need their right, no keys in its options, and a fault in it is a 500', () =>
  withServer(async ({ rest, url }) => {
    assert.is((await fetch(`${url}/host/count`)).status, 401)
    const told = await rest.get('/host/count')
    const paths = [['idle'], ['keys'], ['config', 'basePath']] as const
    const known = paths.map((path) => member(told.json, ...path))
    assert.equal(known, [0, 1, ''])
    assert.equal(['sessionApiKeys', 'secretKey', 'oldSecretKeys'].filter((name) => told.text.includes(name)), [])
    const { status, text } = await rest.get('/host/fault')
    assert.is(status, 500)
    assert.not.match(text, 'A fault of the host')
    assert.is((await rest.get('/ready')).status, 200)
    assert.ok(JSON.stringify((await rest.get('/server_info')).json).includes('own-routes'))
  }, { ownParts: [ownPart('own-routes')], parts: ['none'] }))

test('parts and tools with a name that cannot be used are refused', async () => {
  const codeOf = (options: Partial<AgentServerOptions>): Promise<string> =>
    withHost(options, async () => undefined).then(() => 'accepted', (thrown: unknown) => {
      return thrown instanceof AppError ? thrown.message : String(thrown)
    })
  assert.match(await codeOf({ ownParts: [ownPart('files')] }), 'Could not use the part "files"')
  assert.match(await codeOf({ ownParts: [ownPart('one'), ownPart('one')] }), 'Could not use the part "one"')
  assert.match(await codeOf({ ownParts: [ownPart('Own')] }), 'Could not use the name "Own" of a part')
  assert.match(await codeOf({ ownParts: [ownPart('host')], agent: loud() }), 'Could not use the part "host"')
  assert.match(await codeOf({ tools: [{ ...weather, name: 'the weather' }] }), 'Could not use the tool "the weather"')
  assert.match(await codeOf({ tools: [weather, weather] }), 'Could not use the tool "weather"')
  const withRoute = (route: string): Part => ({ ...ownPart('mine'), routes: { [route]: 'open' } })
  assert.match(await codeOf({ ownParts: [withRoute('GET /ready')] }), 'Could not use the route "GET /ready"')
  assert.match(await codeOf({ ownParts: [withRoute('/mine')] }), 'Could not use the route "/mine"')
  const unsound: Part = JSON.parse('{ "name": "mine", "about": "Mine", "routes": { "GET /mine": "everybody" } }')
  assert.match(await codeOf({ ownParts: [unsound] }), 'Could not use the right "everybody" of "GET /mine"')
  const needy: Part = JSON.parse('{ "name": "mine", "about": "Mine", "needs": "log" }')
  assert.match(await codeOf({ ownParts: [needy] }), 'Could not use the needs of "mine": expected a list')
  for (const path of ['/{a}/{a}', '/a{b}', '/{B}', '/{rest...}/more', '/mine/{', '/mine?x={y}', '/mine mine']) {
    assert.match(await codeOf({ ownParts: [withRoute(`GET ${path}`)] }), `Could not use the route "GET ${path}": exp`)
  }
  for (const rule of ['forRestricted', 'idle', 'uploads']) {
    const misnamed: Part = { ...withRoute('POST /mine'), [rule]: ['POST /mime'] }
    assert.match(await codeOf({ ownParts: [misnamed] }), 'Could not use the rule for "POST /mime": expected a route of')
  }
  const same = withRoute('GET /api/conversations/{id}')
  assert.match(await codeOf({ ownParts: [same] }), 'expected a route that the server does not have')
  const socket = { ...ownPart('mine'), sockets: { 'GET /mine/{': 'open' } } as const
  assert.match(await codeOf({ ownParts: [socket] }), 'Could not use the route "GET /mine/{": expected segments')
})

test('a part gets the capabilities that its needs name, and an error that names any other', async () => {
  const seen: unknown[] = []
  const curious: Part = {
    ...ownPart('curious'), needs: ['clock'], startsWhen: () => true,
    load: async () => ({
      start(core) {
        seen.push(Object.keys(core), typeof core.clock, Object.keys({ ...core }))
        seen.push(core.cipher)
        return {}
      },
    }),
  }
  const { folder, remove } = makeFolder()
  const options = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work'), ownParts: [curious] }
  const fault = await createAgentServer(options).catch((thrown: unknown) => thrown)
  assert.equal(seen, [['clock'], 'function', ['clock']])
  assert.match(String(fault), 'The part "curious" uses the capability "cipher", which its needs do not name')
  const misspelt: Part = { ...curious, ...JSON.parse('{ "needs": ["cypher"] }') }
  const refused = await createAgentServer({ ...options, ownParts: [misspelt] }).catch((thrown: unknown) => thrown)
  assert.match(String(refused), 'The part "curious" needs "cypher", which is no capability')
  remove()
})

test('a server that cannot be made of the parts of a host leaves its folder free', async () => {
  const { folder, remove } = makeFolder()
  const folders = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work') }
  const broken: Part = {
    ...ownPart('mine'), startsWhen: () => true, load: () => Promise.reject(new Error('A fault of the host')),
  }
  const fault = await createAgentServer({ ...folders, ownParts: [broken] }).catch((thrown: unknown) => thrown)
  assert.match(String(fault), 'A fault of the host')
  await (await createAgentServer(folders)).close()
  remove()
})

test('a part of a host that cannot be closed fails the close, and all other things are closed', async () => {
  const { folder, remove } = makeFolder()
  const folders = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'work') }
  const closed: string[] = []
  const partThat = (name: string, close: () => Promise<void>): Part => ({
    name, about: 'A part of a host', startsWhen: () => true, load: async () => ({ start: () => ({ close }) }),
  })
  const first = partThat('first', async () => void closed.push('first'))
  const second = partThat('second', () => Promise.reject(new Error('A fault of the host')))
  const server = await createAgentServer({ ...folders, ownParts: [first, second] })
  assert.match(String(await server.close().catch((thrown: unknown) => thrown)), 'A fault of the host')
  assert.equal(closed, ['first'])
  // The data folder is free again.
  await (await createAgentServer(folders)).close()
  remove()
})

test('an answer of the host\'s model without text and calls ends the run as an empty text does', () => {
  let answer: HostModelAnswer = {}
  return withHost({ models: () => async () => answer }, async (server) => {
    const ends: unknown[] = []
    for (answer of [{ text: '' }, {}, { usage: { promptTokens: 3 } }]) {
      const talk = await server.createConversation({ agent: ownKind, autotitle: false })
      await talk.send('hello')
      ends.push(await talk.ended())
    }
    assert.equal(ends, ['stuck', 'stuck', 'stuck'])
  })
})

test('a wrong result of a function of the host is named, and an error of its model has a stack', async () => {
  const lines: string[] = []
  const wrong = ['[]', '"hi"', '{ "text": 5 }', '{ "calls": [{ "name": "weather", "arguments": "{}" }] }', 'null']
  const answers = [...wrong]
  await withHost({
    writeLog: (line) => void lines.push(line),
    models: () => async () => {
      const answer = answers.shift()
      if (answer === undefined) throw new RangeError('A fault of the host')
      return JSON.parse(answer)
    },
  }, async (server) => {
    for (const expected of [...wrong.map(() => 'gave a wrong answer: expected { text }'), 'A fault of the host']) {
      const talk = await server.createConversation({ agent: ownKind, autotitle: false })
      await talk.send('hello')
      assert.is(await talk.ended(), 'error')
      assert.match(JSON.stringify((await talk.events({ kind: 'ConversationErrorEvent' })).items), expected)
    }
  })
  const failed = lines.filter((line) => line.includes('A model of the host has failed'))
  assert.is(failed.length, wrong.length + 1)
  assert.match(failed.at(-1) ?? '', /RangeError: A fault of the host.*embedding\.test/)
  await withHost({
    writeLog: (line) => void lines.push(line),
    agent: (host) => Object.assign(new Loud(host, []), { runTurn: async () => JSON.parse('{ "outcome": "done" }') }),
  }, async (server) => {
    const talk = await server.createConversation({ agent: ownKind })
    await talk.send('hello')
    assert.is(await talk.ended(), 'error')
  })
  assert.match(lines.join(''), 'runTurn gave no turn')
  await withHost({
    tools: [{ ...weather, run: async () => JSON.parse('5') }],
    models: () => async ({ messages }) => messages.at(-1)?.role === 'tool'
      ? { text: JSON.stringify(messages.at(-1)?.content) } : { calls: [{ name: 'weather', arguments: {} }] },
  }, async (server) => {
    const talk = await server.createConversation({ agent: agentWithWeather, autotitle: false })
    await talk.send('hello')
    assert.is(await talk.ended(), 'finished')
    assert.match(await talk.finalResponse(), 'gave no string')
  })
})

test('a second request for the id of a conversation leaves the secrets of that conversation masked', async () => {
  await withHost({}, async (server, folder) => {
    const secretOf = (value: string): Parameters<AgentServer['createConversation']>[0] => ({
      secrets: { TOKEN: { kind: 'StaticSecret', value } }, workspace: { working_dir: join(folder, 'work') },
    })
    const { id } = await server.createConversation(secretOf('value-of-the-first'))
    const again = { ...secretOf('value-of-the-second'), conversation_id: id }
    await server.createConversation(again)
    const refused = { ...again, parent_conversation_id: id }
    for (let times = 0; times < 400; times++) await server.createConversation(refused).catch(() => undefined)
    assert.is(server.mask('value-of-the-first'), '<secret-hidden>')
    assert.is(server.mask('value-of-the-second'), 'value-of-the-second', 'no value of a refused request is masked')
  })
})

test('an agent of the host beside models or tools, which it would replace, is refused', async () => {
  for (const beside of [{ models: () => undefined }, { tools: [weather] }]) {
    const starting = withHost({ agent: loud(), ...beside }, async () => undefined)
    const refused = await starting.catch((thrown: unknown) => thrown)
    assert.match(String(refused), 'Could not use models and tools beside agent')
  }
  const starting = withHost({ agent: loud(), tools: JSON.parse('null') }, async () => undefined)
  assert.match(String(await starting.catch((thrown: unknown) => thrown)), 'Could not use tools: expected a list')
})

test('a call without its options, and a watch from a wrong start, say what was expected', async () => {
  const nothing = await Reflect.apply(createAgentServer, undefined, []).catch((thrown: unknown) => thrown)
  assert.match(String(nothing), 'Could not use the options: expected an object')
  await withHost({}, async (server) => {
    const talk = await server.createConversation()
    const watched = talk.watch({ from: JSON.parse('"start"') })
    const refused = await watched.next().catch((thrown: unknown) => thrown)
    assert.match(String(refused), "Could not watch from start: expected 'beginning'")
  })
})

test('a host that is written in JavaScript is told which value cannot be used', async () => {
  const wrong: Readonly<Record<string, unknown>> = {
    agent: 'x', models: 5, tools: [{ name: 'x' }], ownParts: [undefined], clock: 5, changeProgram: 'x', writeLog: 1,
  }
  for (const [name, value] of Object.entries(wrong)) {
    const given: object = { dataDir: '/tmp/not-made', workspaceDir: '/tmp/not-made-either', [name]: value }
    const refused = await Reflect.apply(createAgentServer, undefined, [given]).catch((thrown: unknown) => thrown)
    assert.instance(refused, AppError)
    assert.match(String(refused), `Could not use ${name}: expected a`)
  }
})

test('a host changes the program that is started for an external agent', async () => {
  const started: string[] = []
  await withHost({
    changeProgram: ({ command, args, env, ...rest }) => {
      started.push([command, ...args].join(' '))
      return { ...rest, command: '/usr/bin/env', args: ['CHANGED=yes', command, ...args], env }
    },
  }, async (server) => {
    const talk = await server.createConversation({ agent: fakeAgent('environment') })
    await talk.send('show')
    await firstRun(talk)
    assert.match(await talk.finalResponse(), '"CHANGED":"yes"')
    assert.is(started.length, 1)
    assert.match(started[0] ?? '', 'acp-agent')
  })
})

test('an observer sees requests without their data, until it is removed', () =>
  withServer(async ({ server, rest, url }) => {
    const told: ObservedResponse[] = []
    const remove = server.observe({ answered: (one) => told.push(one), opened: () => {}, closed: () => {} })
    await rest.get('/api/conversations/search?limit=1')
    await fetch(`${url}/no/such/path`).then((answer) => answer.text())
    assert.equal(told.map(({ route, status }) => [route, status]), [
      ['/api/conversations/search', 200], [undefined, 404],
    ])
    remove()
    await rest.get('/ready')
    assert.is(told.length, 2)
    const created = await rest.post('/api/conversations', { agent: fakeAgent('echo') })
    assert.is(created.status, 201)
    assert.is(server.load().conversations.statuses.get('idle'), 1)
    assert.type(member(created.json, 'id'), 'string')
  }))

test('a log function that throws does not stop the server: the process gets the error', async () => {
  const seen = new Set<string>()
  process.setUncaughtExceptionCaptureCallback((error) => void seen.add(error.message))
  try {
    const writeLog = (): void => { throw new Error('the log is broken') }
    await withHost({ writeLog, logLevel: 'debug' }, async (server) => {
      await server.createConversation({ agent: fakeAgent('answer') })
      assert.is((await server.conversations()).items.length, 1)
    })
    await until(() => seen.size > 0)
    assert.equal([...seen], ['the log is broken'])
  } finally {
    process.setUncaughtExceptionCaptureCallback(null)
  }
})

test.run()
