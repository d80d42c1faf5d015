/** The definitions of sub-agents: built in, of the user, of the project, and the limits of a file. */
import * as assert from 'uvu/assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTalk, talkTo } from '../../e2e/talk.ts'
import { listAt, member, textAt } from '../../support/rest.ts'
import { inFolder } from '../../support/processes.ts'
import { inServer, withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { parseDefinition } from '../../../src/parts/subagents/definition.ts'
import { policyFor, subAgentOf } from '../../../src/parts/subagents/inheritance.ts'
import { builtins } from '../../../src/parts/subagents/builtins.ts'
import type { ModelServer } from '../../fixtures/model-server.ts'
import { agentFor, childrenOf, modelOf, task, terminal, type Scripts } from './delegation.ts'
import { isAgent, toAgent } from '../../../src/schema/generated/conversations.ts'

const test = suite('subagents/definitions')
const models: ModelServer[] = []
test.after(async () => {
  for (const model of models) await model.close()
})

async function modelFor(scripts: Scripts): Promise<ModelServer> {
  const model = await modelOf(scripts)
  models.push(model)
  return model
}

function write(dir: string, folder: string, name: string, text: string): void {
  mkdirSync(join(dir, folder), { recursive: true })
  writeFileSync(join(dir, folder, name), text)
}

async function agentsOf(server: TestServer, body: object): Promise<unknown[]> {
  const { status, json } = await server.rest.post('/api/sub-agents', body)
  assert.is(status, 200)
  return listAt(json, 'agents')
}

const reviewer = `---
name: reviewer
description: Reviews a change. <example>Review my diff</example> <example>Is this safe?</example>
color: blue
tools:
  - terminal
  - file_editor
skills: [security]
permission_mode: always_confirm
max_iteration_per_run: 7
max_budget_per_run: 0.5
model: another-profile
mcp_servers:
  evil:
    command: touch
---
Look for mistakes.
`

test('lists the built-in definitions, those of the user and those of the project, with all their fields', () => {
  return withServer(async (server) => {
    const project = join(server.folder, 'project')
    write(project, '.agents/agents', 'reviewer.md', reviewer)
    write(project, '.openhands/agents', 'reviewer.md', reviewer.replace('blue', 'red'))
    write(project, '.agents/agents', 'README.md', 'Not a definition')
    write(project, '.agents/agents', 'broken.md', '---\nname: [')
    write(server.folder, '.agents/agents', 'general-purpose.md', 'My own words')
    const all = await agentsOf(server, { project_dir: project })
    assert.equal(all.map((agent) => [textAt(agent, 'name'), textAt(agent, 'level')]), [
      ['general-purpose', 'user'], ['code-explorer', 'builtin'], ['bash-runner', 'builtin'],
      ['web-researcher', 'builtin'], ['reviewer', 'project'],
    ])
    assert.equal(all.at(-1), {
      name: 'reviewer',
      description: 'Reviews a change. <example>Review my diff</example> <example>Is this safe?</example>',
      model: 'inherit',
      color: 'blue',
      tools: ['terminal', 'file_editor'],
      skills: ['security'],
      system_prompt: 'Look for mistakes.',
      when_to_use_examples: ['Review my diff', 'Is this safe?'],
      permission_mode: 'always_confirm',
      max_iteration_per_run: 7,
      max_budget_per_run: 0.5,
      metadata: {},
      level: 'project',
      source: join(project, '.agents/agents/reviewer.md'),
      is_builtin: false,
    })
    assert.is(textAt(all[0], 'system_prompt'), 'My own words')
    const names = async (body: object): Promise<string[]> => {
      return (await agentsOf(server, body)).map((agent) => textAt(agent, 'name'))
    }
    assert.equal(await names({ project_dir: project, load_builtin: false, load_user: false }), ['reviewer'])
    assert.equal(await names({ load_builtin: false, load_project: false }), ['general-purpose'])
    assert.equal(await names({ load_builtin: false, load_user: false, load_project: false }), [])
    assert.is((await server.rest.post('/api/sub-agents')).status, 200)
    assert.is((await server.rest.post('/api/sub-agents', { load_user: 'perhaps' })).status, 422)
    assert.is((await server.rest.post('/api/sub-agents', { project_dir: server.dataDir })).status, 422)
  })
})

test('the definition of the project is used: its prompt, its tools, its policy', () => withServer(async (server) => {
  const project = join(server.folder, 'project')
  write(project, '.agents/agents', 'reviewer.md', reviewer)
  const model = await modelFor({
    delegate: [task('review', { subagent_type: 'reviewer' }), { text: 'Over.' }],
    review: [terminal('touch reviewed'), { text: 'Fine.' }],
  })
  const talk = await startTalk(server, {
    agent: agentFor(model, { tools: [{ name: 'terminal' }, { name: 'glob' }, { name: 'task_tool_set' }] }),
    workspace: { working_dir: project },
  })
  await talk.send('delegate')
  // The parent asks for nothing; the definition asks for every action.
  await talk.reaches('waiting_for_confirmation')
  await talk.post('/events/respond_to_confirmation', { accept: true })
  await talk.reaches('finished')
  const [child] = await childrenOf(server, talk)
  const prompt = (await child?.events() ?? []).find(({ kind }) => kind === 'SystemPromptEvent')
  assert.match(textAt(prompt, 'system_prompt', 'text'), 'Look for mistakes.')
  assert.equal(listAt(prompt, 'tools').map((tool) => textAt(tool, 'title')), ['terminal', 'finish', 'think'])
  const { json } = await child?.get() ?? { json: {} }
  assert.is(member(json, 'max_iterations'), 7)
  assert.is(member(json, 'stats', 'usage_to_metrics', 'default', 'max_budget_per_task'), 0.5)
  assert.is(textAt(json, 'agent', 'llm', 'model'), 'anthropic/claude-test')
  assert.equal(member(json, 'agent', 'mcp_config'), {})
}))

test('a definition of the request replaces a file, also after a restart and in a fork', () => {
  return inFolder(async (folder) => {
    const model = await modelFor({
      delegate: [task('review', { subagent_type: 'reviewer' }), { text: 'Over.' }],
      review: [{ text: 'Fine.' }],
    })
    const given = {
      name: 'reviewer', description: 'Reads.', system_prompt: 'Look twice.', tools: ['terminal'],
      permission_mode: 'always_confirm', max_iteration_per_run: 3, max_budget_per_run: 0.25,
      model: 'other', hooks: null,
    }
    const project = join(folder, 'project')
    write(project, '.agents/agents', 'reviewer.md', reviewer)
    const ids = await inServer(folder, async ({ rest }) => {
      const { headers, json } = await rest.post('/api/conversations', {
        agent: agentFor(model), workspace: { working_dir: project }, agent_definitions: [given],
      })
      assert.is(headers['x-ignored-members'], 'agent_definitions.0.model')
      const id = textAt(json, 'id')
      return [id, textAt((await rest.post(`/api/conversations/${id}/fork`, {})).json, 'id')]
    })
    await inServer(folder, async (again) => {
      for (const one of ids) {
        const talk = talkTo(again, one)
        await talk.send('delegate')
        await talk.reaches('finished')
        const [child] = await childrenOf(again, talk)
        const prompt = (await child?.events() ?? []).find(({ kind }) => kind === 'SystemPromptEvent')
        assert.match(textAt(prompt, 'system_prompt', 'text'), 'Look twice.')
        assert.not.match(textAt(prompt, 'system_prompt', 'text'), 'Look for mistakes.')
        assert.equal(listAt(prompt, 'tools').map((tool) => textAt(tool, 'title')), ['terminal', 'finish', 'think'])
        const { json: info } = await child?.get() ?? { json: {} }
        assert.is(member(info, 'max_iterations'), 3)
        assert.is(member(info, 'confirmation_policy', 'kind'), 'AlwaysConfirm')
        assert.is(member(info, 'stats', 'usage_to_metrics', 'default', 'max_budget_per_task'), 0.25)
      }
    })
  })
})

test('a definition with hooks, twice or of a wrong form is 422; an external agent ignores definitions', () => {
  return withServer(async (server) => {
    const create = (agent_definitions: unknown, more: object = {}): ReturnType<typeof server.rest.post> => {
      return server.rest.post('/api/conversations', { agent_definitions, ...more })
    }
    const hooks = { pre_tool_use: [{ matcher: '*', hooks: [{ command: 'true' }] }] }
    for (const wrong of [
      [{ name: 'x', hooks }], [{ name: 'x' }, { name: 'x' }], [{ name: '../x' }], [{ description: 'x' }],
      [{ name: 'x', permission_mode: 'sometimes' }], [{ name: 'x', max_iteration_per_run: 0 }], 'x',
    ]) assert.is((await create(wrong)).status, 422, JSON.stringify(wrong))
    const agent = { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] }
    const { status, headers } = await create([{ name: 'x', hooks: { pre_tool_use: [] } }], { agent })
    assert.equal([status, headers['x-ignored-members']], [201, 'agent_definitions'])
  })
})

test('nothing gets wider: tools, policy, the tool for tasks itself', () => {
  const given = { kind: 'Agent', llm: { model: 'openai/x' }, tools: [{ name: 'glob' }, { name: 'task_tool_set' }] }
  assert.ok(isAgent(given))
  const agent = toAgent(given)
  const text = '---\ntools: terminal, Glob\n---\nHi'
  const definition = parseDefinition({ text, name: 'x' })
  assert.equal(subAgentOf(agent, definition).tools.map(({ name }) => name), ['glob'])
  const [usual] = builtins
  if (usual === undefined) throw new Error('Expected a definition')
  assert.equal(subAgentOf(agent, usual).tools.map(({ name }) => name), ['glob'])
  assert.equal(policyFor({ kind: 'AlwaysConfirm' }, 'never_confirm'), { kind: 'AlwaysConfirm' })
  assert.is(policyFor({ kind: 'NeverConfirm' }, 'confirm_risky').kind, 'ConfirmRisky')
  const risky = { kind: 'ConfirmRisky', threshold: 'LOW', confirm_unknown: true } as const
  assert.is(policyFor(risky, 'always_confirm').kind, 'AlwaysConfirm')
  assert.equal(policyFor({ ...risky, confirm_unknown: false }, 'confirm_risky'), risky)
})

test('a definition that cannot be used says why', () => {
  const parse = (text: string): unknown => parseDefinition({ text, name: 'x' })
  assert.throws(() => parse('---\nname: "../x"\n---\n'), /"name".*expected letters/)
  assert.throws(() => parse('---\npermission_mode: sometimes\n---\n'), /"permission_mode".*expected one of/)
  assert.throws(() => parse('---\nmax_iteration_per_run: 0\n---\n'), /"max_iteration_per_run".*positive/)
  assert.throws(() => parse('---\nmax_budget_per_run: much\n---\n'), /"max_budget_per_run".*positive/)
})

test('a server without the part says so: in the prompt, and when a model calls the tool', () => withServer(
  async (server) => {
    assert.is((await server.rest.post('/api/sub-agents', {})).status, 501)
    const model = await modelFor({ delegate: [task('look'), { text: 'I did it myself.' }] })
    const talk = await startTalk(server, { agent: agentFor(model) })
    await talk.send('delegate')
    await talk.reaches('finished')
    const events = await talk.events()
    assert.match(
      textAt(events[0], 'dynamic_context', 'text'),
      /not available here: task_tool_set\nThere are no sub-agents on this server/,
    )
    assert.match(textAt(events.find(({ kind }) => kind === 'AgentErrorEvent'), 'error'), "Tool 'task' not found")
    },
  { parts: ['builtin'] },
))

test.run()
