/**
 * The built-in agent behind a real server: real tools, models over HTTP that follow scripts, and the scripted
 * demonstration.
 */
import * as assert from 'uvu/assert'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { startGeminiModel } from '../fixtures/gemini-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { startOpenAiModel } from '../fixtures/openai-model.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, withPrograms, withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, statusesOf, talkTo, type JsonEvent } from './talk.ts'

const test = suite('e2e/built-in')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

const demo = {
  kind: 'Agent',
  llm: { model: 'demo/scripted' },
  tools: ['terminal', 'file_editor', 'task_tracker'].map((name) => ({ name })),
}

/** A model that takes these steps after any prompt. */
async function scripted(steps: readonly ModelStep[], start = startAnthropicModel): Promise<ModelServer> {
  const model = await start({ script: () => steps })
  models.push(model)
  return model
}

function agentFor(model: string, baseUrl: string): object {
  const apiMode = model.startsWith('openai/') ? 'responses' : 'auto'
  const tools = ['terminal', 'file_editor'].map((name) => ({ name }))
  return {
    kind: 'Agent',
    llm: { model, base_url: baseUrl, api_key: 'key-of-the-model', num_retries: 0, stream: true, api_mode: apiMode },
    tools,
  }
}

function call(name: string, input: Readonly<Record<string, unknown>>): ModelStep {
  return { toolCall: { name, input } }
}

const withoutUpdates = (words: readonly string[]): string[] => words.filter((word) => !word.startsWith('('))

function answersTo(events: readonly JsonEvent[]): string[] {
  return events.filter(({ kind }) => kind === 'ObservationEvent').map((event) => {
    return listAt(event, 'observation', 'content').map((part) => String(member(part, 'text'))).join('')
  })
}

test('the scripted demonstration shows a whole piece of work with real tools', async () => {
  const talk = await startTalk(server, { agent: demo })
  await talk.send('Show me')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(withoutUpdates(outline(events)), [
    'SystemPromptEvent', 'user message', 'running', 'ThinkAction', 'ThinkObservation', 'TaskTrackerAction',
    'TaskTrackerObservation', 'TerminalAction', 'TerminalObservation', 'FileEditorAction', 'FileEditorObservation',
    'FileEditorAction', 'FileEditorObservation', 'FinishAction', 'FinishObservation', 'finished',
  ])
  const { working_dir: folder } = Object(member((await talk.get()).json, 'workspace'))
  assert.match(readFileSync(join(String(folder), 'demo-note.md'), 'utf8'), 'demonstration model')
  assert.equal(listAt(events[0], 'tools').map((tool) => textAt(tool, 'title')), [
    'terminal', 'file_editor', 'task_tracker', 'finish', 'think',
  ])
  const final = await talk.get('/agent_final_response')
  assert.match(textAt(final.json, 'response'), 'I planned, looked at the folder')
})

const wires = [
  ['anthropic/claude-test', startAnthropicModel, (url: string) => url],
  ['openai/gpt-5.5', startOpenAiModel, (url: string) => `${url}/v1`],
  ['gemini/gemini-test', startGeminiModel, (url: string) => `${url}/v1beta`],
] as const
for (const [name, start, baseUrl] of wires) {
  test(`${name}: a turn with a command and a file over the provider's wire format`, async () => {
    const model = await start({ script: () => [
      { text: 'I look.', ...call('terminal', { command: 'echo from-$((20+22))' }) },
      call('file_editor', { command: 'create', path: 'note.txt', file_text: 'hello\n' }),
      { text: 'Done it.' },
    ] })
    models.push(model)
    const talk = await startTalk(server, { agent: agentFor(name, baseUrl(model.url)) })
    await talk.send('Go')
    await talk.reaches('finished')
    const events = await talk.events()
    assert.equal(withoutUpdates(outline(events)), [
      'SystemPromptEvent', 'user message', 'running', 'TerminalAction', 'TerminalObservation',
      'FileEditorAction', 'FileEditorObservation', 'agent message', 'finished',
    ])
    assert.match(answersTo(events)[0] ?? '', /^from-42/)
    assert.equal(messagesOf(events, 'agent'), ['Done it.'])
    const { working_dir: folder } = Object(member((await talk.get()).json, 'workspace'))
    assert.is(readFileSync(join(String(folder), 'note.txt'), 'utf8'), 'hello\n')
    assert.not(JSON.stringify(events).includes('key-of-the-model'))
  })
}

test('files get what the model wrote, whatever of it is a secret; the history does not', async () => {
  const account = JSON.stringify({
    type: 'service_account', project_id: 'my-project-123456', private_key: 'key-of-account-1234',
  })
  const content = 'terminal my-project-123456 service_account key-of-account-1234 value-of-b-1234 pin 4711\n'
  const model = await scripted([
    call('file_editor', { command: 'create', path: 'a.txt', file_text: content }),
    call('terminal', { command: 'printf %s value-of-b-1234 > b.txt; cat a.txt | fold -w 60' }),
  ])
  const values = { WORD: 'terminal', ACCOUNT_JSON: account, TOKEN_B: 'value-of-b-1234', PIN: '4711', TINY: 'x' }
  const secrets = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { kind: 'StaticSecret', value }]),
  )
  const talk = await startTalk(server, { agent: agentFor('anthropic/claude-test', model.url), secrets })
  await talk.send('Go')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.equal(withoutUpdates(outline(events)).slice(3, 7), [
    'FileEditorAction', 'FileEditorObservation', 'TerminalAction', 'TerminalObservation',
  ])
  const { working_dir: folder } = Object(member((await talk.get()).json, 'workspace'))
  assert.is(readFileSync(join(String(folder), 'a.txt'), 'utf8'), content)
  assert.is(readFileSync(join(String(folder), 'b.txt'), 'utf8'), 'value-of-b-1234')
  const recorded = JSON.stringify(events)
  for (const hidden of ['key-of-account-1234', 'value-of-b-1234', '4711']) {
    assert.not.ok(recorded.includes(hidden), hidden)
  }
  assert.match(
    answersTo(events)[1] ?? '',
    /^terminal my-project-123456 service_account <secret-hidden>\s+<secret-hidden> pin <secret-hidden>\n/,
  )
})

test('the sealing keys are hidden like secrets, as they were given and as they are kept', async () => {
  const given = 'pass phrase that seals 42'
  await withServer(async (own) => {
    mkdirSync(own.workspaceDir, { recursive: true })
    writeFileSync(join(own.workspaceDir, 'given.txt'), `${given}\n`)
    const kept = readFileSync(join(own.dataDir, 'keys', 'sealing.json'), 'utf8')
    const { key = '' } = JSON.parse(kept)
    const show = `cat '${join(own.dataDir, 'keys', 'sealing.json')}'; cat '${join(own.workspaceDir, 'given.txt')}' | ` +
      `fold -w 10; head -c 20 '${join(own.dataDir, 'keys', 'session.json')}'`
    const model = await scripted([call('terminal', { command: show })])
    const talk = await startTalk(own, { agent: agentFor('anthropic/claude-test', model.url) })
    await talk.send('Go')
    await talk.reaches('finished')
    const [shown = ''] = answersTo(await talk.events())
    assert.match(shown, '"key": "<secret-hidden>"')
    assert.not.ok(shown.includes(String(key)) || shown.includes('phrase'))
  }, { oldSecretKeys: [given] })
})

test('a command gets the secrets that it names, and their values are hidden wherever they show', async () => {
  const model = await scripted([
    call('terminal', { command: 'echo $TOKEN_A; echo ${TOKEN_B:-none}' }),
    call('terminal', { command: 'env | grep -c TOKEN_ || true; echo $token_b > b.txt; cat b.txt' }),
  ])
  const secrets = {
    TOKEN_A: { kind: 'StaticSecret', value: 'value-of-a-1234' },
    TOKEN_B: { kind: 'StaticSecret', value: 'value-of-b-1234', description: 'for b' },
  }
  const talk = await startTalk(server, { agent: agentFor('anthropic/claude-test', model.url), secrets })
  await talk.send('Go')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.match(textAt(events[0], 'dynamic_context', 'text'), '- TOKEN_B: for b')
  const [first = '', second = ''] = answersTo(events)
  assert.match(first, /^<secret-hidden>\n<secret-hidden>\n/)
  assert.match(second, /^1\n/)
  assert.not(/value-of-[ab]-1234/.test(JSON.stringify(events)))
})

test('actions that wait for the user outlive a kill of the server and run once when they are approved', withPrograms(
  async (start, folder) => {
    const model = await scripted([call('terminal', { command: 'echo once >> log.txt' }), { text: 'Written.' }])
    const first = await start()
    const agent = agentFor('anthropic/claude-test', model.url)
    const talk = await startTalk(first, { agent, confirmation_policy: { kind: 'AlwaysConfirm' } })
    await talk.send('Write')
    await talk.reaches('waiting_for_confirmation')
    await first.stop('SIGKILL')
    const again = talkTo(await start(), talk.id)
    assert.is(await again.status(), 'waiting_for_confirmation')
    assert.is(listAt((await again.get('/confirmations')).json, 'items').length, 1)
    await again.post('/events/respond_to_confirmation', { accept: true })
    await again.reaches('finished')
    assert.equal(withoutUpdates(outline(await again.events())).slice(-6), [
      'TerminalAction', 'waiting_for_confirmation', 'running', 'TerminalObservation', 'agent message', 'finished',
    ])
    const { working_dir: place } = Object(member((await again.get()).json, 'workspace'))
    assert.is(readFileSync(join(String(place), 'log.txt'), 'utf8'), 'once\n')
    assert.ok(existsSync(folder))
  },
))

test(
  "a hook of git is written with the user's yes, whatever the risk, and not at all where nobody is asked",
  async () => {
    const hook = call('write_file', { file_path: '.git/hooks/pre-commit', content: 'x', security_risk: 'LOW' })
    for (const [kind, outcome] of [['ConfirmRisky', 'written'], ['NeverConfirm', 'refused']] as const) {
      const model = await scripted([hook, { text: 'Went on.' }])
      const tools = { tools: [{ name: 'WriteFileTool', params: {} }] }
      const policy = kind === 'NeverConfirm' ? { kind } : { kind, threshold: 'HIGH', confirm_unknown: false }
      const talk = await startTalk(server, {
        agent: { ...agentFor('anthropic/claude-test', model.url), ...tools }, confirmation_policy: policy,
      })
      const { working_dir: place } = Object(member((await talk.get()).json, 'workspace'))
      await talk.send('Write')
      if (outcome === 'written') {
        await talk.reaches('waiting_for_confirmation')
        assert.not.ok(existsSync(join(String(place), '.git/hooks/pre-commit')))
        await talk.post('/events/respond_to_confirmation', { accept: true })
      }
      await talk.reaches('finished')
      assert.is(existsSync(join(String(place), '.git/hooks/pre-commit')), outcome === 'written')
    }
  },
)

test(
  'an interrupt ends the command that runs, answers its action, and the conversation goes on afterwards',
  async () => {
    const model = await scripted([
      call('terminal', { command: 'echo begun > begun.txt; sleep 300' }), { text: 'Went on.' },
    ])
    const talk = await startTalk(server, { agent: agentFor('anthropic/claude-test', model.url) })
    await talk.send('Sleep')
    const { working_dir: place } = Object(member((await talk.get()).json, 'workspace'))
    await until(() => existsSync(join(String(place), 'begun.txt')))
    await talk.post('/interrupt')
    assert.is(await talk.status(), 'paused')
    assert.equal(withoutUpdates(outline(await talk.events())).slice(-4), [
      'TerminalAction', 'AgentErrorEvent', 'paused', 'PauseEvent',
    ])
    await talk.runAgain()
    await talk.reaches('finished')
    assert.equal(messagesOf(await talk.events(), 'agent'), ['Went on.'])
  },
)

test('a wrong key is an error of the conversation that does not show it', async () => {
  const model = await scripted([{ failure: 401, text: 'invalid x-api-key key-of-the-model' }])
  const talk = await startTalk(server, { agent: agentFor('anthropic/claude-test', model.url) })
  await talk.send('Go')
  await talk.reaches('error')
  const events = await talk.events()
  assert.ok(outline(events).includes('error LLMAuthenticationError'))
  assert.equal(statusesOf(events), ['running', 'error'])
  assert.not(JSON.stringify(events).includes('key-of-the-model'))
})

test('a tool that this server has not is left out, and the agent is told', async () => {
  const talk = await startTalk(server, { agent: { ...demo, tools: [{ name: 'time_machine' }, { name: 'glob' }] } })
  await talk.send('hello')
  await talk.reaches('finished')
  const [prompt] = await talk.events()
  assert.equal(listAt(prompt, 'tools').map((tool) => textAt(tool, 'title')), ['glob', 'finish', 'think'])
  assert.match(textAt(prompt, 'dynamic_context', 'text'), 'not available here: time_machine')
})

test('the agent is asked beside its work without a trace in the history', async () => {
  const model = await scripted([{ text: 'Forty-two.' }])
  const talk = await startTalk(server, { agent: agentFor('anthropic/claude-test', model.url) })
  await talk.send('Go')
  await talk.reaches('finished')
  const before = withoutUpdates(outline(await talk.events()))
  const answer = await talk.post('/ask_agent', { question: 'What was it?' })
  assert.equal(answer.json, { response: 'Forty-two.' })
  assert.equal(withoutUpdates(outline(await talk.events())), before)
  assert.is(await talk.status(), 'finished')
})

test.run()
