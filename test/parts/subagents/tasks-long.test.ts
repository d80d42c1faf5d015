/** Sub-agents behind a real server: a parent and its sub-agents talk to a streaming model over HTTP. */
import * as assert from 'uvu/assert'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelServer } from '../../fixtures/model-server.ts'
import { messagesOf, outline, talkTo } from '../../e2e/talk.ts'
import { until } from '../../support/processes.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import {
  agentFor, childrenOf, childrenWhen, modelOf, realPace, resultsOf, talkWith, task, terminal, type Scripts,
} from './delegation.ts'

const test = suite('subagents/tasks', 90_000)
const fast = { tokensPerSecond: 1000 }
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

async function modelFor(scripts: Scripts, pace = realPace): Promise<ModelServer> {
  const model = await modelOf(scripts, pace)
  models.push(model)
  return model
}

test('a task runs in a conversation of its own, linked to its parent, and its last message is the result', async () => {
  const model = await modelFor({
    delegate: [task('count'), { text: 'There is one file.' }],
    count: [terminal('touch made-by-sub-agent; ls'), { text: 'I found one file.' }],
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  await talk.reaches('finished')
  const events = await talk.events()
  const [child] = await childrenOf(server, talk)
  if (child === undefined) throw new Error('Expected a sub-agent')
  const info = (await child.get()).json
  assert.is(textAt(info, 'parent_conversation_id'), talk.id)
  assert.is(textAt(info, 'title'), 'do count')
  assert.equal(member(info, 'tags'), { subagent: 'general-purpose' })
  assert.is(textAt(info, 'execution_status'), 'finished')
  assert.equal(member(info, 'workspace'), member((await talk.get()).json, 'workspace'))
  const [text = ''] = resultsOf(events)
  assert.is(text, `Task ID: ${child.id}\nSubagent: general-purpose\nStatus: completed\n\nI found one file.`)
  assert.equal(messagesOf(events, 'agent'), ['There is one file.'])
  assert.equal(messagesOf(events, 'user'), ['delegate'])
  const below = await child.events()
  assert.equal(messagesOf(below, 'user'), ['count'])
  assert.ok(outline(below).includes('TerminalAction'))
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  assert.ok(existsSync(join(dir, 'made-by-sub-agent')))
  // One level: the sub-agent is not offered the tool.
  const titles = listAt(below[0], 'tools').map((tool) => textAt(tool, 'title'))
  assert.equal(titles, ['terminal', 'file_editor', 'finish', 'think'])
  assert.ok(listAt(events[0], 'tools').map((tool) => textAt(tool, 'title')).includes('task'))
})

test('the usage of a sub-agent counts in its parent, under a name of its own', async () => {
  const model = await modelFor({ delegate: [task('count'), { text: 'Done.' }], count: [{ text: 'One.' }] })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  await talk.reaches('finished')
  const [child] = await childrenOf(server, talk)
  const cost = async (id: string, usage: string): Promise<number> => {
    const { json } = await talkTo(server, id).get()
    return Number(member(json, 'stats', 'usage_to_metrics', usage, 'accumulated_cost'))
  }
  const below = await cost(child?.id ?? '', 'default')
  assert.ok(below > 0)
  assert.is(await cost(talk.id, 'task:general-purpose'), below)
})

test('the steps of a sub-agent are steps of its parent, whose limit ends both', async () => {
  const steps = Array.from({ length: 10 }, (_, place) => terminal(`echo ${place}`))
  const model = await modelFor({ delegate: [task('work'), { text: 'Done.' }], work: steps }, fast)
  const talk = await talkWith(server, model, { max_iterations: 5 })
  await talk.send('delegate')
  await talk.reaches('error')
  const events = await talk.events()
  const [child] = await childrenOf(server, talk)
  const below = await child?.events() ?? []
  assert.is(outline(below).filter((word) => word === 'TerminalAction').length, 4)
  assert.match(resultsOf(events)[0] ?? '', /Status: error[^]*MaxIterationsReached/)
  assert.ok(outline(events).includes('error MaxIterationsReached'))
})

test('the budget of the parent ends its sub-agent', async () => {
  const steps = Array.from({ length: 10 }, (_, place) => terminal(`echo ${place}`))
  const model = await modelFor({ delegate: [task('work'), { text: 'Done.' }], work: steps }, fast)
  const talk = await talkWith(server, model, { max_budget_per_task: 0.2 })
  await talk.send('delegate')
  await talk.reaches('error')
  assert.match(resultsOf(await talk.events())[0] ?? '', /MaxBudgetReached/)
  const [child] = await childrenOf(server, talk)
  assert.ok(outline(await child?.events() ?? []).filter((word) => word === 'TerminalAction').length < 10)
})

test('eight tasks of one answer run at the same time', async () => {
  const names = Array.from({ length: 8 }, (_, place) => `part ${place}`)
  const [first, ...more] = names.map((name) => task(name).toolCall)
  if (first === undefined) throw new Error('Expected calls')
  const one = { toolCall: first, moreToolCalls: more.flatMap((call) => call ?? []) }
  // No sub-agent ends before all eight have begun: each waits for the files of the others.
  const meet = 'touch "at-$RANDOM-$RANDOM"; until [ "$(ls at-* | wc -l)" -ge 8 ]; do sleep 0.05; done'
  const model = await modelFor({
    delegate: [one, { text: 'All done.' }],
    ...Object.fromEntries(names.map((name) => [name, [terminal(meet), { text: `${name} is done` }]])),
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  await talk.reaches('finished')
  const results = resultsOf(await talk.events())
  assert.equal(results.map((text) => text.split('\n').at(-1)), names.map((name) => `${name} is done`))
})

test('a stopped parent stops its sub-agent: no command is left, and the call has an error', async () => {
  const model = await modelFor({ delegate: [task('wait')], wait: [terminal('echo begun > begun; sleep 300')] })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await until(() => existsSync(join(dir, 'begun')))
  assert.is((await talk.post('/interrupt')).status, 200)
  await talk.reaches('paused')
  const [child] = await childrenOf(server, talk)
  assert.is(await child?.status(), 'paused')
  assert.equal(outline(await talk.events()).slice(-3), ['AgentErrorEvent', 'paused', 'PauseEvent'])
  assert.ok(outline(await child?.events() ?? []).includes('AgentErrorEvent'))
})

test('a paused parent pauses its sub-agent between two steps, and the task can be resumed', async () => {
  const model = await modelFor({
    delegate: [task('wait'), { text: 'Over.' }],
    wait: [terminal('echo begun > begun; until [ -e go ]; do sleep 0.05; done'), { text: 'first answer' }],
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await until(() => existsSync(join(dir, 'begun')))
  const pausing = talk.post('/pause')
  writeFileSync(join(dir, 'go'), '')
  await pausing
  await talk.reaches('paused')
  const [child] = await childrenOf(server, talk)
  assert.is(await child?.status(), 'paused')
  assert.match(resultsOf(await talk.events())[0] ?? '', /Status: paused[^]*Resume the task/)
})

test('a task is resumed: the same conversation gets the next message', async () => {
  const model = await modelFor({
    first: [task('remember'), { text: 'Noted.' }],
    remember: [{ text: 'I remember 7.' }],
    recall: [{ text: 'It was 7.' }],
  })
  const talk = await talkWith(server, model)
  await talk.send('first')
  await talk.reaches('finished')
  const [child] = await childrenOf(server, talk)
  const id = child?.id ?? ''
  const again = await modelFor({
    second: [task('recall', { resume: id }), { text: 'Seven.' }],
    recall: [{ text: 'It was 7.' }],
  })
  const { llm } = Object(agentFor(again))
  assert.is((await talk.post('/switch_llm', { llm })).status, 200)
  await talk.send('second')
  await until(async () => messagesOf(await talk.events(), 'agent').includes('Seven.'))
  assert.is((await childrenOf(server, talk)).length, 1)
  assert.equal(messagesOf(await child?.events() ?? [], 'user'), ['remember', 'recall'])
})

test('a task of another conversation cannot be resumed, and an unknown sub-agent is an error', async () => {
  const stranger = await talkWith(server, await modelFor({}))
  const model = await modelFor({
    delegate: [task('a', { resume: stranger.id }), task('b', { subagent_type: 'nobody' }), { text: 'Over.' }],
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(resultsOf(events), [`There is no task "${stranger.id}" in this conversation`])
  const error = events.find(({ kind }) => kind === 'AgentErrorEvent')
  assert.match(textAt(error, 'error'), /subagent_type: expected one of general-purpose, code-explorer, bash-runner/)
  assert.equal(await childrenOf(server, talk), [])
})

test('a question of a sub-agent reaches the user of the parent, with its command on record first', async () => {
  const model = await modelFor({
    delegate: [task('write'), { text: 'Over.' }],
    write: [terminal('touch allowed'), { text: 'Written.' }],
  })
  const talk = await talkWith(server, model, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('delegate')
  await talk.reaches('waiting_for_confirmation')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  // The call of `task` itself is approved first.
  await talk.post('/events/respond_to_confirmation', { accept: true })
  const [child] = await childrenWhen(server, talk, 1)
  const open = async (): Promise<unknown[]> => listAt((await talk.get('/confirmations')).json, 'items')
  await until(async () => (await open()).length === 1)
  const [question] = await open()
  assert.is(textAt(question, 'command'), 'touch allowed')
  assert.match(textAt(question, 'title'), 'The sub-agent "general-purpose" asks for approval: terminal')
  await until(async () => messagesOf(await talk.events(), 'environment').at(-1)?.includes('touch allowed') === true)
  assert.is(await talk.status(), 'waiting_for_confirmation')
  assert.is(await child?.status(), 'waiting_for_confirmation')
  assert.not(existsSync(join(dir, 'allowed')))
  await talk.post('/events/respond_to_confirmation', { accept: true, id: textAt(question, 'id') })
  await talk.reaches('finished')
  assert.ok(existsSync(join(dir, 'allowed')))
  assert.match(resultsOf(await talk.events())[0] ?? '', 'Written.')
})

test('a rejected action of a sub-agent is not executed, and the sub-agent goes on', async () => {
  const model = await modelFor({
    delegate: [task('write'), { text: 'Over.' }],
    write: [terminal('touch refused'), { text: 'Then not.' }],
  })
  const talk = await talkWith(server, model, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('delegate')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await until(async () => {
    return listAt((await talk.get('/confirmations')).json, 'items').some((item) => member(item, 'command') !== null)
  })
  await talk.post('/events/respond_to_confirmation', { accept: false, reason: 'Not that file' })
  await talk.reaches('finished')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  assert.not(existsSync(join(dir, 'refused')))
  const [child] = await childrenOf(server, talk)
  const refusal = (await child?.events() ?? []).find(({ kind }) => kind === 'UserRejectObservation')
  assert.is(textAt(refusal, 'rejection_reason'), 'Not that file')
  assert.match(resultsOf(await talk.events())[0] ?? '', 'Then not.')
})

test('a question that is answered in the conversation of the sub-agent is withdrawn from the parent', async () => {
  const model = await modelFor({
    delegate: [task('write'), { text: 'Over.' }],
    write: [terminal('touch below'), { text: 'Written.' }],
  })
  const talk = await talkWith(server, model, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('delegate')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  const [child] = await childrenWhen(server, talk, 1)
  await until(async () => listAt((await talk.get('/confirmations')).json, 'items').length === 1 &&
    await child?.status() === 'waiting_for_confirmation')
  await child?.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
  assert.match(resultsOf(await talk.events())[0] ?? '', 'Written.')
})

test('a stop of the parent while its sub-agent asks leaves no question open', async () => {
  const model = await modelFor({ delegate: [task('write')], write: [terminal('touch stopped')] })
  const talk = await talkWith(server, model, { confirmation_policy: { kind: 'AlwaysConfirm' } })
  await talk.send('delegate')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  const [child] = await childrenWhen(server, talk, 1)
  await until(async () => listAt((await talk.get('/confirmations')).json, 'items').length === 1 &&
    await child?.status() === 'waiting_for_confirmation')
  assert.is((await talk.post('/interrupt')).status, 200)
  assert.is(await talk.status(), 'paused')
  await until(async () => await child?.status() === 'idle')
  for (const one of [talk, child]) assert.equal((await one?.get('/confirmations'))?.json, { items: [] })
  assert.equal(outline(await talk.events()).slice(-3), ['AgentErrorEvent', 'paused', 'PauseEvent'])
})

test('a policy that becomes stricter during a task holds for the next action of the sub-agent', async () => {
  const model = await modelFor({
    delegate: [task('write'), { text: 'Over.' }],
    write: [
      terminal('echo begun > begun; until [ -e go ]; do sleep 0.05; done'), terminal('touch later'),
      { text: 'Written.' },
    ],
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await until(() => existsSync(join(dir, 'begun')))
  const [child] = await childrenOf(server, talk)
  await talk.post('/confirmation_policy', { policy: { kind: 'AlwaysConfirm' } })
  await until(async () => textAt((await child?.get())?.json, 'confirmation_policy', 'kind') === 'AlwaysConfirm')
  writeFileSync(join(dir, 'go'), '')
  await talk.reaches('waiting_for_confirmation')
  assert.not(existsSync(join(dir, 'later')))
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
})

test('a deleted sub-agent ends its task with an error, and the parent goes on', async () => {
  const model = await modelFor({
    delegate: [task('wait'), { text: 'Over.' }], wait: [terminal('echo begun > begun; sleep 300')],
  })
  const talk = await talkWith(server, model)
  await talk.send('delegate')
  const dir = textAt((await talk.get()).json, 'workspace', 'working_dir')
  await until(() => existsSync(join(dir, 'begun')))
  const [child] = await childrenOf(server, talk)
  assert.is((await server.rest.delete(child?.path ?? '')).status, 200)
  await talk.reaches('finished')
  assert.is(resultsOf(await talk.events()).length, 1)
  assert.equal(messagesOf(await talk.events(), 'agent'), ['Over.'])
})

test('secrets of the parent reach a command of the sub-agent and are masked in both histories', async () => {
  const model = await modelFor({
    delegate: [task('use'), { text: 'Over.' }],
    use: [terminal('echo "it is $DEPLOY_TOKEN"'), { text: 'It is canary-of-the-parent.' }],
  })
  const secrets = { DEPLOY_TOKEN: { kind: 'StaticSecret', value: 'canary-of-the-parent' } }
  const talk = await talkWith(server, model, { secrets })
  await talk.send('delegate')
  await talk.reaches('finished')
  const [child] = await childrenOf(server, talk)
  const both = JSON.stringify([await talk.events(), await child?.events()])
  assert.not.match(both, 'canary-of-the-parent')
  assert.match(both, /it is <secret-hidden>|it is \*\*\*/)
})

test.run()
