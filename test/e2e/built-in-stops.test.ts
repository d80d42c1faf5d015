/**
 * The built-in agent that is interrupted, killed with its server, forked and led back: real tools, models over HTTP.
 */
import * as assert from 'uvu/assert'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startModelServer, type ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { isAlive, until } from '../support/processes.ts'
import { member, textAt } from '../support/rest.ts'
import { startServer, withPrograms, type Program, type StartProgram, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/built-in-stops')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

/** A model whose steps may change while it stands. */
async function modelFor(script: () => readonly ModelStep[]): Promise<ModelServer> {
  const model = await startAnthropicModel({ script })
  models.push(model)
  return model
}

function agentFor({ url }: ModelServer): object {
  const tools = ['terminal', 'file_editor', 'task_tracker'].map((name) => ({ name }))
  return {
    kind: 'Agent',
    llm: { model: 'anthropic/claude-test', base_url: url, api_key: 'key-of-the-model', num_retries: 0 },
    tools,
  }
}

function call(name: string, input: Readonly<Record<string, unknown>>): ModelStep {
  return { toolCall: { name, input } }
}

function run(command: string): ModelStep {
  return call('terminal', { command })
}

const endless: ModelStep = { text: 'on and on', isEndless: true }
const withoutUpdates = (words: readonly string[]): string[] => words.filter((word) => !word.startsWith('('))

async function folderOf(talk: Talk): Promise<string> {
  return textAt((await talk.get()).json, 'workspace', 'working_dir')
}

function answers(events: readonly JsonEvent[]): string[] {
  return events.flatMap(({ kind, tool_call_id }) => {
    return kind === 'ObservationEvent' || kind === 'AgentErrorEvent' ? [`${String(kind)} ${String(tool_call_id)}`] : []
  })
}

function callIds(events: readonly JsonEvent[]): unknown[] {
  return events.filter(({ kind }) => kind === 'ActionEvent').map(({ tool_call_id }) => tool_call_id)
}

/** Starts a server and a talk, waits until the work stands where it shall, kills the server and starts another. */
async function killAt(
  start: StartProgram, model: ModelServer, isThere: (place: string) => boolean,
): Promise<{ talk: Talk, place: string, second: Program }> {
  const first = await start()
  const begun = await startTalk(first, { autotitle: false, agent: agentFor(model) })
  await begun.send('Go')
  const place = await folderOf(begun)
  await until(() => isThere(place))
  await first.stop('SIGKILL')
  const second = await start()
  return { talk: talkTo(second, begun.id), place, second }
}

test('killed while the model answers: the message is answered by the next run', withPrograms(async (start) => {
  let steps: readonly ModelStep[] = [endless]
  const model = await modelFor(() => steps)
  const { talk } = await killAt(start, model, () => model.requests.length === 1)
  assert.is(await talk.status(), 'error')
  assert.equal(withoutUpdates(outline(await talk.events())).slice(-3), ['running', 'error ServerRestarted', 'error'])
  steps = [{ text: 'Here.' }]
  await talk.runAgain()
  await talk.reaches('finished')
  assert.equal(messagesOf(await talk.events(), 'agent'), ['Here.'])
}))

test(
  'killed while a command runs: its action is answered once, it is gone, and nothing runs twice',
  withPrograms(async (start) => {
    const model = await modelFor(() => [
      run('echo once >> log.txt; echo $BASHPID > pid.txt; sleep 300'), { text: 'Went on.' },
    ])
    const { talk, place } = await killAt(start, model, (folder) => {
      return existsSync(join(folder, 'pid.txt')) && readFileSync(join(folder, 'pid.txt'), 'utf8').endsWith('\n')
    })
    const events = await talk.events()
    assert.equal(withoutUpdates(outline(events)).slice(-4), [
      'TerminalAction', 'AgentErrorEvent', 'error ServerRestarted', 'error',
    ])
    await until(() => !isAlive(Number(readFileSync(join(place, 'pid.txt'), 'utf8'))))
    await talk.runAgain()
    await talk.reaches('finished')
    const all = await talk.events()
    assert.equal(answers(all), callIds(all).map((id) => `AgentErrorEvent ${String(id)}`))
    assert.is(readFileSync(join(place, 'log.txt'), 'utf8'), 'once\n')
    assert.match(JSON.stringify(model.requests.at(-1)?.body), 'The result is unknown')
  }),
)

test('killed after a result: the next run goes on from there and does not do it again', withPrograms(async (start) => {
  let steps: readonly ModelStep[] = [run('echo once >> log.txt'), endless]
  const model = await modelFor(() => steps)
  const { talk, place } = await killAt(start, model, () => model.requests.length === 2)
  assert.equal(withoutUpdates(outline(await talk.events())).slice(-4), [
    'TerminalAction', 'TerminalObservation', 'error ServerRestarted', 'error',
  ])
  steps = [run('echo never'), { text: 'Done.' }]
  await talk.runAgain()
  await talk.reaches('finished')
  const all = await talk.events()
  assert.equal(answers(all), callIds(all).map((id) => `ObservationEvent ${String(id)}`))
  assert.is(readFileSync(join(place, 'log.txt'), 'utf8'), 'once\n')
}))

test(
  'an undo is known to the server that comes after a killed one, and a new shell serves the next command',
  withPrograms(async (start) => {
    const edit = call('file_editor', { command: 'create', path: 'a.txt', file_text: 'new\n' })
    let steps: readonly ModelStep[] = [run('X=kept'), edit, endless]
    const model = await modelFor(() => steps)
    const { talk, place } = await killAt(start, model, () => model.requests.length === 3)
    assert.is(readFileSync(join(place, 'a.txt'), 'utf8'), 'new\n')
    steps = [run('X=kept'), edit, call('file_editor', { command: 'undo_edit', path: 'a.txt' }), run('echo "X=$X"')]
    await talk.runAgain()
    await talk.reaches('finished')
    assert.not(existsSync(join(place, 'a.txt')))
    assert.match(JSON.stringify(await talk.events()), '"text":"X=\\n"')
  }),
)

test('an interrupt while the model answers closes its connection', async () => {
  let open = 0
  const model = await startModelServer((_request, response) => {
    open++
    response.once('close', () => open--)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': wait\n\n')
  })
  models.push(model)
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
  await talk.send('Go')
  await until(() => open === 1)
  await talk.post('/interrupt')
  assert.is(await talk.status(), 'paused')
  await until(() => open === 0)
})

test('an interrupt ends a wait for another attempt', async () => {
  const model = await startModelServer((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '120' })
    response.end('{}')
  })
  models.push(model)
  const agent = agentFor(model)
  const llm = { ...Object(member(agent, 'llm')), num_retries: 5 }
  const talk = await startTalk(server, { autotitle: false, agent: { ...agent, llm } })
  await talk.send('Go')
  await until(() => model.requests.length === 1)
  await talk.post('/interrupt')
  assert.is(await talk.status(), 'paused')
  assert.is(model.requests.length, 1)
})

test('an interrupt ends the command and the jobs that this turn has left in the background', async () => {
  const model = await modelFor(() => [
    run('sleep 300 & echo $! > job.txt'), run('setsid sleep 300 & echo $! > far.txt'),
    run('sh -c \'echo $$ > pid.txt; exec sleep 300\''),
  ])
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
  await talk.send('Go')
  const place = await folderOf(talk)
  const pidOf = (name: string): number =>
    existsSync(join(place, name)) ? Number(readFileSync(join(place, name), 'utf8')) : 0
  await until(() => pidOf('pid.txt') > 0)
  await talk.post('/interrupt')
  assert.is(await talk.status(), 'paused')
  for (const name of ['job.txt', 'far.txt', 'pid.txt']) assert.not(isAlive(pidOf(name)), name)
  const events = withoutUpdates(outline(await talk.events()))
  assert.equal(events.slice(-3), ['AgentErrorEvent', 'paused', 'PauseEvent'])
})

for (const [way, name] of [['interrupt', 'an interrupt'], ['pause', 'a pause']]) {
  test(`${name} while the model answers ends the programs that earlier calls of the turn left running`, async () => {
    const left = 'sleep 300 & echo $! > job.txt; sh -c \'echo $$ > pid.txt; exec sleep 300\''
    const model = await modelFor(() => [call('terminal', { command: left, timeout: 1 }), endless])
    const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
    await talk.send('Go')
    const place = await folderOf(talk)
    const pids = (): number[] => ['job.txt', 'pid.txt'].map((name) => Number(readFileSync(join(place, name), 'utf8')))
    await until(() => model.requests.length === 2)
    assert.equal(pids().map(isAlive), [true, true])
    await talk.post(`/${way}`)
    await talk.reaches('paused')
    assert.equal(pids().map(isAlive), [false, false])
  })
}

test('a program that an earlier turn left running goes on when a later turn is stopped', async () => {
  const steps: ModelStep[] = [call('terminal', { command: 'sh -c \'echo $$ > pid.txt; exec sleep 300\'', timeout: 1 })]
  const model = await modelFor(() => steps)
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
  await talk.send('Go')
  await talk.reaches('finished')
  steps.splice(0, 1, endless)
  await talk.send('Go on')
  await until(() => model.requests.length === 3)
  await talk.post('/interrupt')
  await talk.reaches('paused')
  assert.ok(isAlive(Number(readFileSync(join(await folderOf(talk), 'pid.txt'), 'utf8'))))
})

test('a pause lets the command end, and is answered before it has', async () => {
  const model = await modelFor(() => [
    run('touch begun; until [ -e go ]; do sleep 0.05; done; echo went'), { text: 'Done.' },
  ])
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
  await talk.send('Go')
  const place = await folderOf(talk)
  await until(() => existsSync(join(place, 'begun')))
  const pausing = talk.post('/pause')
  writeFileSync(join(place, 'go'), '')
  await pausing
  await talk.reaches('paused')
  assert.equal(withoutUpdates(outline(await talk.events())).slice(-3), ['TerminalObservation', 'paused', 'PauseEvent'])
  await talk.runAgain()
  await talk.reaches('finished')
})

test('a fork has tools of its own, and leaves those of its source alone', async () => {
  const plan = call('task_tracker', { command: 'plan', task_list: [{ title: 'one' }] })
  const edit = call('file_editor', { command: 'create', path: 'a.txt', file_text: 'new\n' })
  const undo = call('file_editor', { command: 'undo_edit', path: 'a.txt' })
  const scripts: Record<string, readonly ModelStep[]> = {
    'Begin': [run('X=source'), plan, edit],
    'Look': [run('echo "X=$X"'), call('task_tracker', { command: 'view' }), undo],
  }
  const model = await startAnthropicModel({ script: (prompt) => scripts[prompt] ?? [] })
  models.push(model)
  const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
  await talk.send('Begin')
  await talk.reaches('finished')
  const fork = talkTo(server, textAt((await talk.post('/fork')).json, 'id'))
  await fork.send('Look')
  await fork.reaches('finished')
  const forked = JSON.stringify(await fork.events())
  assert.match(forked, '"text":"X=\\n"')
  assert.match(forked, 'The task list is empty')
  assert.ok(existsSync(join(await folderOf(talk), 'a.txt')))
  await talk.send('Look')
  await until(async () => {
    return (await talk.status()) === 'finished' && JSON.stringify(await talk.events()).includes('X=source')
  })
  assert.match(JSON.stringify(await talk.events()), '1. [todo] one')
  assert.not(existsSync(join(await folderOf(talk), 'a.txt')))
})

test(
  'led back to an earlier event the agent works on from there, with its files and its shell as they are',
  async () => {
    const scripts: Record<string, readonly ModelStep[]> = {
      'Begin': [run('X=first')], 'Wrong': [run('X=wrong; touch wrong.txt')], 'Right': [run('echo "X=$X"')],
    }
    const model = await startAnthropicModel({ script: (prompt) => scripts[prompt] ?? [] })
    models.push(model)
    const talk = await startTalk(server, { autotitle: false, agent: agentFor(model) })
    await talk.send('Begin')
    await talk.reaches('finished')
    const head = textAt((await talk.get()).json, 'leaf_event_id')
    await talk.send('Wrong')
    await until(async () => (await talk.status()) === 'finished' && model.requests.length === 4)
    await talk.post('/navigate', { event_id: head })
    await talk.send('Right')
    await until(async () => (await talk.status()) === 'finished' && model.requests.length === 6)
    const told = JSON.stringify(model.requests.at(-1)?.body)
    assert.match(told, 'Begin')
    assert.not.match(told, 'Wrong')
    assert.match(told, 'X=wrong')
    assert.ok(existsSync(join(await folderOf(talk), 'wrong.txt')))
  },
)

test.run()
