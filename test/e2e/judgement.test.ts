/** Critics that ask no model, security analyzers by fixed rules and condensers in a row, behind a real server. */
import * as assert from 'uvu/assert'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import type { ModelStep } from '../fixtures/model-step.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { messagesOf, outline, startTalk, talkTo, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/judgement')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

const command = (text: string): ModelStep => ({ toolCall: { name: 'terminal', input: { command: text } } })
const finish: ModelStep = { toolCall: { name: 'finish', input: { message: 'Finished.' } } }

async function talkWith(steps: readonly ModelStep[], agent: object, request: object = {}): Promise<Talk> {
  const model = await startAnthropicModel({ script: () => steps, pace: () => ({ tokensPerSecond: 200 }) })
  models.push(model)
  const llm = {
    model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0, stream: true,
  }
  const tools = [{ name: 'terminal' }]
  return startTalk(server, { agent: { kind: 'Agent', llm, tools, ...agent }, ...request })
}

/** The results of the critic, in the order of their events. */
function resultsOf(events: readonly JsonEvent[]): unknown[] {
  return events.flatMap((event) => event['critic_result'] ?? [])
}

async function critiqueOf(kind: string, steps: readonly ModelStep[]): Promise<unknown[]> {
  const talk = await talkWith(steps, { critic: { kind } })
  assert.is(textAt((await talk.get()).json, 'agent', 'critic', 'kind'), kind)
  await talk.send('Go')
  await talk.reaches('finished')
  return resultsOf(await talk.events())
}

const passed = { score: 1, message: null }
const noPatch = { score: 0, message: 'No file of the workspace has changed.' }

test('the critic Pass passes everything', async () => {
  assert.equal(await critiqueOf('PassCritic', [{ text: 'Done.' }]), [passed])
})

test('the critic EmptyPatch looks for changed files, committed ones too', async () => {
  assert.equal(await critiqueOf('EmptyPatchCritic', [{ text: 'Done.' }]), [noPatch])
  assert.equal(await critiqueOf('EmptyPatchCritic', [command('echo new > file'), { text: 'Done.' }]), [passed])
  const commit = 'echo new > file; git add file; git -c user.name=a -c user.email=a@b.c commit -qm new; git status'
  assert.equal(await critiqueOf('EmptyPatchCritic', [command(commit), { text: 'Done.' }]), [passed])
})

test('the critic AgentFinished asks for changed files and a call of finish', async () => {
  const change = command('echo new > file')
  assert.equal(await critiqueOf('AgentFinishedCritic', [finish]), [noPatch])
  const unfinished = { score: 0, message: 'The agent did not call finish.' }
  assert.equal(await critiqueOf('AgentFinishedCritic', [change, { text: 'Done.' }]), [unfinished])
  assert.equal(await critiqueOf('AgentFinishedCritic', [change, finish]), [passed])
})

test('a critic without a model sends the agent on as well', async () => {
  const critic = { kind: 'EmptyPatchCritic', iterative_refinement: { max_iterations: 1 } }
  const talk = await talkWith([{ text: 'Done.' }, command('echo new > file'), { text: 'Now done.' }], { critic })
  await talk.send('Go')
  await talk.reaches('finished')
  const events = await talk.events()
  assert.match(messagesOf(events, 'environment').join(), /A critic has scored your work with 0.00 of 1.*No file/s)
})

test('analyzers by fixed rules decide which action waits, and their risk is on record', async () => {
  const policy = { confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true } }
  for (const kind of ['PatternSecurityAnalyzer', 'PolicyRailSecurityAnalyzer']) {
    // The model calls both harmless: its word does not count.
    const dangerous: ModelStep = {
      toolCall: { name: 'terminal', input: { command: 'rm -rf /etc/no-such-folder-here', security_risk: 'LOW' } },
    }
    const talk = await talkWith([command('touch made'), dangerous], {}, { ...policy, security_analyzer: { kind } })
    await talk.send('Go')
    await talk.reaches('waiting_for_confirmation')
    const actions = (await talk.events()).filter((event) => event['kind'] === 'ActionEvent')
    assert.equal(actions.map((event) => event['security_risk']), ['LOW', 'HIGH'])
    assert.ok(existsSync(join(textAt((await talk.get()).json, 'workspace', 'working_dir'), 'made')))
    await talk.post('/events/respond_to_confirmation', { accept: false })
  }
})

test('an analyzer can be set later; an ensemble is shown as it was given', async () => {
  const talk = await talkWith([command('sudo rm x')], {}, { confirmation_policy: { kind: 'ConfirmRisky' } })
  const analyzer = {
    kind: 'EnsembleSecurityAnalyzer',
    analyzers: [{ kind: 'PatternSecurityAnalyzer' }, { kind: 'PolicyRailSecurityAnalyzer' }],
    propagate_unknown: false,
  }
  assert.is((await talk.post('/security_analyzer', { security_analyzer: analyzer })).status, 200)
  assert.equal(member((await talk.get()).json, 'security_analyzer'), analyzer)
  await talk.send('Go')
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: false })
})

test('an analyzer that needs a service is refused with 422', async () => {
  for (const kind of ['GraySwanAnalyzer', 'ToolShieldLLMSecurityAnalyzer', 'NoSuchAnalyzer']) {
    const { status } = await server.rest.post('/api/conversations', { security_analyzer: { kind } })
    assert.is(status, 422, kind)
  }
  const nothing = { kind: 'EnsembleSecurityAnalyzer', analyzers: [] }
  assert.is((await server.rest.post('/api/conversations', { security_analyzer: nothing })).status, 422)
})

test('condensers in a row: the first that is due condenses, and each shows the model that it uses', async () => {
  const think: ModelStep = { toolCall: { name: 'think', input: { thought: 'again' } } }
  const steps = Array.from({ length: 12 }, () => think)
  const small = { kind: 'LLMSummarizingCondenser', max_size: 20, keep_first: 2 }
  const pipeline = {
    kind: 'PipelineCondenser',
    condensers: [{ kind: 'NoOpCondenser' }, { ...small, max_size: 1000 }, small],
  }
  const talk = await talkWith(steps, { condenser: pipeline }, { stuck_detection: false })
  const shown = member((await talk.get()).json, 'agent', 'condenser')
  assert.is(textAt(shown, 'kind'), 'PipelineCondenser')
  const kinds = listAt(shown, 'condensers').map((one) => textAt(one, 'kind'))
  assert.equal(kinds, ['NoOpCondenser', 'LLMSummarizingCondenser', 'LLMSummarizingCondenser'])
  assert.is(textAt(listAt(shown, 'condensers')[2], 'llm', 'usage_id'), 'condenser')
  assert.not.match(JSON.stringify(shown), 'key-of-the-model')
  await talk.send('Think')
  await until(async () => outline(await talkTo(server, talk.id).events()).includes('Condensation'))
  await talk.post('/interrupt')
})

test('a pipeline with a condenser that leaves no room is refused with 422', async () => {
  const condensers = [{ kind: 'LLMSummarizingCondenser', max_size: 20, keep_first: 15 }]
  const agent = { kind: 'Agent', llm: { model: 'demo/scripted' }, condenser: { kind: 'PipelineCondenser', condensers } }
  assert.is((await server.rest.post('/api/conversations', { agent })).status, 422)
})

test.run()
