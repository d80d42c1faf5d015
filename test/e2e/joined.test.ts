/**
 * The program in one file, as operators run it. It behaves like the modules, and it finds the things that it starts or
 * reads beside itself: the demonstration agent, the thread for expressions, the description of the routes.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { until } from '../support/processes.ts'
import { joinedFile, mainModule } from '../support/program-file.ts'
import { member } from '../support/rest.ts'
import { withPrograms, type Program } from '../support/server.ts'
import * as library from '../../src/index.ts'
import { isObject } from '../../src/base/json.ts'
import { openapi } from '../../src/schema/generated/openapi.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, storedOf } from './talk.ts'

const test = suite('e2e/joined')

/** A test body with the joined program, which ends well at a signal. */
function withJoined(body: (program: Program) => Promise<void>): () => Promise<void> {
  return withPrograms(async (start) => {
    const program = await start([], { withKey: true, program: joinedFile })
    await body(program)
    assert.is(await program.stop('SIGTERM'), 0)
    assert.match(program.stderr(), /"message":"Closed"\}\n$/)
  })
}

/** Returns the output of a program and how it ends. */
function runFile(file: string, words: readonly string[]): readonly unknown[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...words], {
    encoding: 'utf8', env: { PATH: process.env['PATH'] },
  })
  return [status, stdout, stderr]
}

for (const words of [['--help'], ['--version'], ['doctor', '--help'], ['agents', 'list', '--prot', '1'], ['serv']]) {
  test(`says what the modules say to ${words.join(' ')}`, () => {
    assert.equal(runFile(joinedFile, words), runFile(mainModule, words))
  })
}

test('drives the agent of a fixture, over REST and a socket', withJoined(async (program) => {
  const talk = await startTalk(program, 'echo')
  const client = await program.socket(talk.id)
  assert.is((await talk.send('hello')).status, 200)
  await client.until(() => outline(storedOf(client)).includes('finished'))
  const events = await talk.events()
  assert.equal(storedOf(client).map(({ id }) => id), events.map(({ id }) => id))
  assert.equal(messagesOf(events, 'user'), ['hello'])
  assert.is(messagesOf(events, 'agent').length, 1)
}))

test('loads only named keys for an external agent, and a part when it is used', withPrograms(async (start, folder) => {
  // V8 lists the scripts that were loaded when the process ends.
  const coverage = join(folder, 'coverage')
  const environment = { NODE_V8_COVERAGE: coverage }
  const loaded = async (body: (program: Program) => Promise<void>): Promise<string[]> => {
    // The console is loaded with the server, to print the address that signs in.
    const program = await start(['--no-console'], { withKey: true, program: joinedFile, environment })
    await body(program)
    assert.is(await program.stop('SIGTERM'), 0)
    const names = readdirSync(coverage).flatMap((name) => {
      const text = readFileSync(join(coverage, name), 'utf8')
      return [...text.matchAll(/\/dist\/agent-server\.([a-z-]+)\.js"/g)].map(([, part = '']) => part)
    })
    rmSync(coverage, { recursive: true })
    return [...new Set(names)].sort()
  }
  assert.equal(await loaded(async (program) => {
    const talk = await startTalk(program, 'echo')
    await talk.send('hello')
    await talk.reaches('finished')
    assert.is((await program.rest.get('/server_info')).status, 200)
  }), ['core', 'keys'])
  assert.equal(await loaded(async ({ rest }) => assert.is((await rest.post('/api/skills', {})).status, 200)), [
    'core', 'extensions', 'keys', 'skills', 'workspace-files',
  ])
}))

test('finds the demonstration agent and the description of the routes', withJoined(async (program) => {
  const talk = await startTalk(program)
  await talk.send('run: echo found it')
  await talk.reaches('finished')
  assert.match(JSON.stringify(await talk.events()), 'found it')
  const description = await program.rest.get('/openapi.json')
  assert.is(description.text, openapi)
}))

test('finds the thread that tries expressions', withJoined(async (program) => {
  const { folder, rest } = program
  const hook = { matcher: '/term.*/', hooks: [{ command: `echo "$OPENHANDS_TOOL_NAME" >> '${join(folder, 'seen')}'` }] }
  const agent = { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] }
  const talk = await startTalk(program, { agent, hook_config: { pre_tool_use: [hook] } })
  await talk.send('work')
  await until(async () => member((await rest.get(talk.path)).json, 'execution_status') === 'finished')
  assert.match(readFileSync(join(folder, 'seen'), 'utf8'), /^terminal\n/)
}))

test('the joined library has the names of its module, and makes servers', async () => {
  const joined: unknown = await import(pathToFileURL(join(dirname(joinedFile), 'agent-server.library.js')).href)
  assert.ok(isObject(joined))
  assert.equal(Object.keys(joined).sort(), Object.keys(library).sort())
  const { createAgentServer } = joined
  assert.ok(typeof createAgentServer === 'function')
  const refused: unknown = await createAgentServer({ port: -1 }).then(() => undefined, (thrown: unknown) => thrown)
  assert.match(String(refused), 'Could not use port')
})

test.run()
