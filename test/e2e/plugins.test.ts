/**
 * Installed skills and plugins behind a real server: the texts that reach the model of the built-in agent, the programs
 * that run, and plugins without effect while they are disabled or not named.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { stdioProgram } from '../parts/mcp/carriers.ts'
import { startAnthropicModel } from '../fixtures/anthropic-model.ts'
import { zipOf } from '../parts/extensions/archives.ts'
import type { ModelServer } from '../fixtures/model-server.ts'
import { listAt, member, textAt, type RestResponse } from '../support/rest.ts'
import { fakeAgent, startServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, type JsonEvent, type Talk } from './talk.ts'

const test = suite('e2e/plugins')
let server: TestServer
const models: ModelServer[] = []

test.before(async () => {
  server = await startServer()
})
test.after(async () => {
  await server.close()
  for (const model of models) await model.close()
})

function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

async function agentWith(agent_context: object | null): Promise<{ agent: object; model: ModelServer }> {
  const model = await startAnthropicModel({ script: () => [{ text: 'Done.' }] })
  models.push(model)
  const llm = { model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0 }
  return { agent: { kind: 'Agent', llm, tools: [], agent_context }, model }
}

const userContext = { load_user_skills: true }

/** Starts a conversation, has it say one thing, and returns it with the texts and tools that the model got. */
async function said(
  text: string, context: object | null, request: object = {},
): Promise<{ talk: Talk; told: string; context: string; tools: string[]; added: string }> {
  const { agent, model } = await agentWith(context)
  const talk = await startTalk(server, { agent, autotitle: false, ...request })
  await talk.send(text)
  await talk.reaches('finished')
  const events = await talk.events()
  const message = events.find(({ kind, source }: JsonEvent) => kind === 'MessageEvent' && source === 'user')
  const tools = model.requests.flatMap(({ body }) => {
    const list = member(body, 'tools')
    return Array.isArray(list) ? list.map((tool) => textAt(tool, 'name')) : []
  })
  return {
    talk, tools, told: JSON.stringify(model.requests.map(({ body }) => body)),
    context: textAt(events[0], 'dynamic_context', 'text'), added: JSON.stringify(member(message, 'extended_content')),
  }
}

const post = (path: string, body: object): Promise<RestResponse> => server.rest.post(path, body)
const create = async (plugins: readonly object[], more: object = {}): Promise<RestResponse> => {
  return post('/api/conversations', { agent: (await agentWith(null)).agent, plugins, ...more })
}

test('an installed skill reaches the model while it is enabled, and one of the home folder wins over it', async () => {
  const text = '---\nname: pdf\ndescription: Reads PDF files.\n---\nThe text about PDF.'
  const source = write(join(server.folder, 'pdf'), { 'SKILL.md': text })
  assert.is((await post('/api/skills/install', { source })).status, 200)
  const { context, added } = await said('/pdf please', userContext)
  assert.match(context, '- pdf: Reads PDF files.')
  assert.match(added, 'The text about PDF.')
  const { json: found } = await post('/api/skills', { load_project: false })
  assert.equal(listAt(found, 'skills').map((one) => member(one, 'name')), ['pdf'])
  assert.not.match((await said('/pdf', {})).context, 'pdf')
  write(server.folder, { '.agents/skills/pdf.md': '---\ntriggers: [pdf]\n---\nOf the home folder.' })
  const own = await said('/pdf pdf', userContext)
  assert.match(own.added, 'Of the home folder.')
  assert.not.match(own.added, 'The text about PDF.')
  rmSync(join(server.folder, '.agents'), { recursive: true })
  await server.rest.patch('/api/skills/installed/pdf', { enabled: false })
  assert.not.match((await said('/pdf', userContext)).context, 'pdf')
  assert.equal(listAt((await post('/api/skills', { load_project: false })).json, 'skills'), [])
  await server.rest.send('DELETE', '/api/skills/installed/pdf')
})

/** A plugin with everything; its hook writes the text of the message's point into `mark`. */
function wholePlugin(name: string, mark: string): Readonly<Record<string, string>> {
  return {
    '.claude-plugin/plugin.json': JSON.stringify({ name, version: '1.0', description: 'Whole.', author: {} }),
    [`skills/${name}-skill/SKILL.md`]: `---\nname: ${name}-skill\ndescription: Skill of ${name}.\n---\nInner text.`,
    'commands/now.md': '---\ndescription: Does it now\nargument-hint: CITY\n---\nThe command itself.',
    'agents/helper.md': '---\nname: helper\n---\nNot run.',
    'hooks/hooks.json': JSON.stringify({
      description: 'Hooks',
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: '"${CLAUDE_PLUGIN_ROOT}/hook.sh"' }] }] },
    }),
    'hook.sh': `#!/bin/sh\necho ${name} >> '${mark}'\n`,
    '.mcp.json': JSON.stringify({
      mcpServers: { [`${name}-server`]: { type: 'stdio', command: process.execPath, args: [stdioProgram, 'plain'] } },
    }),
  }
}

test('a plugin with programs is disabled until a client enables it; then everything of it acts', async () => {
  const mark = join(server.folder, 'mark-whole')
  const folder = write(join(server.folder, 'whole'), wholePlugin('whole', mark))
  chmodSync(join(folder, 'hook.sh'), 0o755)
  const { status, json } = await post('/api/plugins/install', { source: folder })
  assert.equal([status, member(json, 'enabled'), member(json, 'version')], [200, false, '1.0'], JSON.stringify(json))
  assert.equal(listAt(json, 'skills'), [
    { name: 'whole-skill', description: 'Skill of whole.' }, { name: 'whole:now', description: 'Does it now' },
  ])
  assert.ok(listAt(json, 'files').includes('hook.sh'))
  const before = await said('/whole:now', userContext)
  assert.not.match(before.told, 'whole-skill')
  assert.not.ok(existsSync(mark) || before.tools.length > 2)
  const { json: changed } = await server.rest.patch('/api/plugins/installed/whole', { enabled: true })
  assert.equal(changed, { name: 'whole', enabled: true })
  const after = await said('/whole:now', userContext)
  assert.match(after.context, '- whole-skill: Skill of whole.')
  assert.match(after.added, 'The command itself.')
  assert.is(readFileSync(mark, 'utf8'), 'whole\n')
  assert.ok(after.tools.length > before.tools.length, after.tools.join())
  assert.equal(Object.keys(Object(member((await after.talk.get()).json, 'agent', 'mcp_config'))), ['whole-server'])
  const { context } = await said('/whole:now', {})
  assert.not.match(context, 'whole')
  assert.is(readFileSync(mark, 'utf8'), 'whole\n')
  await server.rest.send('DELETE', '/api/plugins/installed/whole')
})

test('a request names plugins: a folder, an installed one by name, source or path; each once', async () => {
  const mark = join(server.folder, 'mark-named')
  const folder = write(join(server.folder, 'named'), wholePlugin('named', mark))
  chmodSync(join(folder, 'hook.sh'), 0o755)
  const hook_config = { UserPromptSubmit: [{ hooks: [{ command: `echo own >> '${mark}'` }] }] }
  const { talk, added } = await said('/named:now', null, { plugins: [{ source: folder }], hook_config })
  assert.match(added, 'The command itself.')
  assert.is(readFileSync(mark, 'utf8'), 'own\nnamed\n')
  assert.is(listAt((await talk.get()).json, 'hook_config', 'user_prompt_submit').length, 2)
  writeFileSync(join(server.folder, 'named.zip'), zipOf([
    { name: 'top/skills/of-zip/SKILL.md', content: '---\nname: of-zip\ndescription: Zipped.\n---\nText of zip.' },
  ]))
  const source = join(server.folder, 'named.zip')
  const installed = await post('/api/plugins/install', { source })
  assert.equal([member(installed.json, 'name'), member(installed.json, 'enabled')], ['top', true], installed.text)
  for (const one of ['top', source, textAt(installed.json, 'install_path')]) {
    const plugins = [{ source: one, ref: null, repo_path: null }]
    assert.match((await said('/of-zip', null, { plugins })).added, 'Text of zip.', one)
  }
  assert.is((await create([{ source: 'top' }, { source }])).status, 422)
  await server.rest.patch('/api/plugins/installed/top', { enabled: false })
  const disabled = await create([{ source: 'top' }])
  assert.equal([disabled.status, /it is disabled/.test(disabled.text)], [422, true])
  await server.rest.send('DELETE', '/api/plugins/installed/top')
})

test('the request wins over a plugin: a server and a skill of the same name stay its own', async () => {
  const folder = write(join(server.folder, 'rival'), {
    'skills/rival.md': '---\ntriggers: [rival]\n---\nOf the plugin.',
    '.mcp.json': JSON.stringify({ same: { url: 'https://plugin.example.org/mcp' } }),
  })
  const own = { name: 'rival', content: 'Of the client.', triggers: ['rival'] }
  const { agent } = await agentWith({ skills: [own] })
  const mcp_config = { same: { url: 'https://own.example.org/mcp', enabled: false } }
  const plugins = [{ source: folder }]
  const { status, json, text } = await post('/api/conversations', { agent: { ...agent, mcp_config }, plugins })
  assert.is(status, 201, text)
  assert.is(member(json, 'agent', 'mcp_config', 'same', 'url'), 'https://own.example.org/mcp')
  const { added } = await said('rival', { skills: [own] }, { plugins })
  assert.match(added, 'Of the client.')
})

test('a plugin that is not here or cannot be used is refused, and creates nothing', async () => {
  const { folder, dataDir } = server
  const bad: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'bad-hook': { 'hooks/hooks.json': '{"hooks":{"Notification":[]}}' }, 'bad-json': { '.plugin/plugin.json': '{' },
    'bad-server': { '.mcp.json': '{"mcpServers":{"x":{"args":[]}}}' },
    'bad-name': { '.plugin/plugin.json': '{"name":"A b"}' }, 'no-plugin': { 'a.txt': 'x' },
    'bad path': {
      'hooks/hooks.json': '{"Stop":[{"hooks":[{"command":"${PLUGIN_ROOT}/x"}]}]}',
      '.plugin/plugin.json': '{"name":"ok"}',
    },
  }
  const count = (await server.rest.get('/api/conversations/count')).json
  for (const [name, files] of Object.entries(bad)) {
    const path = write(join(folder, name), files)
    assert.is((await create([{ source: path }])).status, 422, name)
    if (name !== 'bad path') assert.is((await post('/api/plugins/install', { source: path })).status, 422, name)
  }
  for (const [source, status] of [
    ['github:a/b', 422], ['https://example.org/a.git', 422], ['nothing', 422], [join(folder, 'nothing'), 404],
    [dataDir, 403], [join(folder, 'named.zip'), 422], ['/proc/self', 403],
  ] as const) {
    const answer = await create([{ source }])
    assert.is(answer.status, status, `${source}: ${answer.text}`)
  }
  const outside = write(join(folder, 'outside'), { '.plugin/plugin.json': '{"name":"outside"}', 'skills/a/b.txt': 'x' })
  symlinkSync('/etc/passwd', join(outside, 'skills/a/SKILL.md'))
  const linked = await create([{ source: outside }], { agent: (await agentWith({})).agent })
  assert.is(linked.status, 201)
  assert.not.match(linked.text, 'root:')
  const plugins = [{ source: write(join(folder, 'e'), { 'skills/a.md': 'x' }) }]
  const external = await post('/api/conversations', { agent: fakeAgent('echo'), plugins })
  assert.equal([external.status, /external agent/.test(external.text)], [422, true])
  assert.is((await server.rest.get('/api/conversations/count')).json, Number(count) + 1)
})

test('plugins of the home folder and of a project are listed, and act only when they are named', async () => {
  const home = write(join(server.folder, '.agents/plugins/at-home'), { 'skills/x.md': 'At home.' })
  const project = join(server.workspaceDir, 'with-plugins')
  write(project, {
    '.openhands/plugins/at-work/skills/y.md': 'At work.', '.openhands/plugins/broken/.plugin/plugin.json': '{',
  })
  const { json } = await post('/api/plugins', { project_dir: project })
  assert.equal(listAt(json, 'plugins').map((one) => [member(one, 'name'), member(one, 'files')]), [
    ['at-work', ['skills/y.md']], ['at-home', ['skills/x.md']],
  ])
  assert.equal((await post('/api/plugins', { load_user: false })).json, { plugins: [] })
  assert.is((await post('/api/plugins', { project_dir: server.dataDir })).status, 422)
  const { context } = await said('hello', { ...userContext, load_project_skills: true }, {
    workspace: { kind: 'LocalWorkspace', working_dir: project },
  })
  assert.not.match(context, /At (home|work)/)
  assert.match((await said('hello', null, { plugins: [{ source: home }] })).context, 'At home.')
})

test('a conversation keeps what it got when its plugin is removed', async () => {
  const source = write(join(server.folder, 'kept'), { 'skills/kept.md': '---\ntriggers: [word]\n---\nKept text.' })
  await post('/api/plugins/install', { source })
  const { talk, added } = await said('word', userContext)
  assert.match(added, 'Kept text.')
  await server.rest.send('DELETE', '/api/plugins/installed/kept')
  const skills = listAt((await talk.get('?include_skills=true')).json, 'agent', 'agent_context', 'skills')
  assert.equal(skills.map((one) => member(one, 'name')), ['kept'])
})

test('sub-agents of a plugin are offered to the model, and a definition of the request replaces one of them', async () => {
  const plugin = write(join(server.folder, 'agents-plugin'), {
    '.plugin/plugin.json': '{"name": "agents-plugin"}',
    'agents/checker.md': '---\nname: checker\ndescription: Checks the numbers.\n---\nCheck.',
    'agents/writer.md': '---\ndescription: Writes the report.\nhooks: {"stop": []}\n---\nWrite.',
    'agents/broken.md': '---\nname: "../broken"\n---\n',
  })
  const { agent, model } = await agentWith(null)
  const talk = await startTalk(server, {
    agent: { ...agent, tools: [{ name: 'terminal' }, { name: 'task_tool_set' }] }, autotitle: false,
    plugins: [{ source: plugin }], agent_definitions: [{ name: 'writer', description: 'Writes letters.' }],
  })
  await talk.send('hello')
  await talk.reaches('finished')
  const told = JSON.stringify(model.requests.map(({ body }) => member(body, 'tools')))
  for (const text of ['Checks the numbers.', 'Writes letters.']) assert.match(told, text)
  for (const text of ['Writes the report.', 'broken']) assert.not.match(told, text)
  const bare = write(join(server.folder, 'bare-plugin'), { 'agents/only.md': '---\ndescription: Only.\n---\nOnly.' })
  assert.is((await create([{ source: bare }])).status, 201)
  const external = { agent: { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] } }
  assert.is((await post('/api/conversations', { ...external, plugins: [{ source: bare }] })).status, 422)
})

test.run()
