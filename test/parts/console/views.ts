/**
 * Every view of the console with content in it, for checks that hold for all views: the width, the accessibility rules.
 *
 * `prepare` fills a new server. `views` opens one view after the other in a tab that has signed in.
 */
import { textAt } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'
import type { Tab } from './chromium.ts'

export interface View {
  readonly name: string
  open(tab: Tab, prepared: Prepared): Promise<void>
}

export interface Prepared {
  readonly server: TestServer
  /** The ids of conversations by their names. */
  readonly ids: Readonly<Record<'answered' | 'asking' | 'mixed', string>>
}

const wordless = `${'averyveryverylongwordwithoutanyplacetobreak'.repeat(6)}/file.ts`

/** Messages of which each has something that can be wider than a phone, or is written from right to left. */
export const mixedTexts = [
  'مرحبا بالعالم: شغّل `npm run build -- --watch` في المجلد src/parts، ثم افتح README.md.',
  'שלום! הפונקציה `openTab(url: string)` מחזירה **Tab** (ראה test/parts).\n\n- פריט אחד\n- item two\n- פריט 3',
  `A long word: ${wordless}\n\n\`\`\`ts\nconst line = '${'x'.repeat(300)}'\n\`\`\`\n\n`
    + `| ${'column | '.repeat(14)}\n|${'---|'.repeat(14)}\n| ${'a value | '.repeat(14)}`,
]

export async function prepare(server: TestServer): Promise<Prepared> {
  const create = async (body: object): Promise<string> => {
    return textAt((await server.rest.post('/api/conversations', body)).json, 'id')
  }
  const answered = await create(withMessage('Show me what you can do'))
  const mixed = await create({})
  for (const text of mixedTexts) {
    await server.rest.post(`/api/conversations/${mixed}/events`, { ...userMessage(text), run: false })
  }
  await server.rest.post(`/api/conversations/${mixed}/run`)
  const asking = await create({
    ...withMessage(`run: echo ${wordless} && rm -rf build`), confirmation_policy: { kind: 'AlwaysConfirm' },
  })
  const title = `ملاحظات: ${wordless.slice(0, 150)}`
  await server.rest.patch(`/api/conversations/${mixed}`, { title, tags: { project: 'website' } })
  await server.rest.put('/api/settings/secrets', { name: 'MY_API_KEY', value: 'a-value', description: wordless })
  await server.rest.post('/api/profiles/careful', { llm: { model: `anthropic/${wordless}` } })
  return { server, ids: { answered, mixed, asking } }
}

function withMessage(text: string): object {
  return { initial_message: { ...userMessage(text), run: true } }
}

function userMessage(text: string): object {
  return { role: 'user', content: [{ type: 'text', text }] }
}

export const views: readonly View[] = [
  at('new', '/', '.task-box'),
  step('agent', 'demo', '#agent-demo'),
  step('machine', 'demo', '.finding'),
  step('machine', 'missing', '.finding + .finding'),
  step('credentials', 'demo', '.step > p'),
  step('credentials', 'built-in', '.step input'),
  step('credentials', 'claude-code', '.step input'),
  step('start', 'demo', '.chip'),
  conversation('answered', '.call'),
  conversation('mixed', '.markdown'),
  conversation('asking', '.question'),
  ...['search', 'export', 'files', 'frames'].map((panel) => conversationPanel(panel)),
  { name: 'list-menu', open: openListMenu },
  at('settings-agent', '/settings/agent', '.settings form .field'),
  { name: 'settings-agent-built-in', open: openBuiltInSettings },
  at('settings-secrets', '/settings/secrets', '.entry'),
  at('settings-profiles', '/settings/profiles', '.entry'),
  { name: 'settings-mcp', open: openMcp },
  at('settings-sessions', '/settings/sessions', '.entry'),
  at('settings-storage', '/settings/storage', '.pairs div'),
  at('settings-colours', '/settings/colours', '.section select'),
  { name: 'keys', open: openKeys },
]

function at(name: string, path: string, wanted: string): View {
  return {
    name,
    async open(tab) {
      await go(tab, path)
      await tab.until(`document.querySelector(${JSON.stringify(wanted)}) !== null`)
    },
  }
}

function step(name: string, agent: string, wanted: string): View {
  return {
    name: `welcome-${name}-${agent}`,
    async open(tab, { server }) {
      await server.rest.patch('/api/settings', { agent_settings_diff: agents[agent] })
      await at(name, `/welcome/${name}`, wanted).open(tab, { server, ids: noIds })
    },
  }
}

const noIds = { answered: '', mixed: '', asking: '' }
const agents: Readonly<Record<string, object>> = {
  demo: { agent_kind: 'acp', acp_server: 'custom', acp_command: ['agent-server-demo-agent'] },
  missing: { agent_kind: 'acp', acp_server: 'custom', acp_command: ['no-such-agent'] },
  'claude-code': { agent_kind: 'acp', acp_server: 'claude-code', acp_command: [] },
  'built-in': { agent_kind: 'openhands' },
}

function conversation(name: keyof Prepared['ids'], wanted: string): View {
  return {
    name: `conversation-${name}`,
    open: (tab, prepared) => at(name, `/c/${prepared.ids[name]}`, wanted).open(tab, prepared),
  }
}

function conversationPanel(name: string): View {
  return {
    name: `conversation-panel-${name}`,
    async open(tab, prepared) {
      await conversation('answered', '.call').open(tab, prepared)
      await tab.click(`${name[0]?.toUpperCase()}${name.slice(1)}`)
      await tab.until("document.querySelector('.panel')?.checkVisibility() === true")
    },
  }
}

async function openListMenu(tab: Tab): Promise<void> {
  await go(tab, '/')
  const opened = "document.querySelector('.row-menu:not([hidden])') !== null"
  await tab.until(`(${opened}) || (document.querySelector('.row button')?.click(), false)`)
  await tab.run("document.querySelector('.shell').classList.add('side-open')")
}

async function openBuiltInSettings(tab: Tab, prepared: Prepared): Promise<void> {
  await prepared.server.rest.patch('/api/settings', { agent_settings_diff: agents['built-in'] })
  await at('agent', '/settings/agent', '.settings form .field').open(tab, prepared)
  await tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
}

async function openKeys(tab: Tab, prepared: Prepared): Promise<void> {
  await conversation('answered', '.call').open(tab, prepared)
  await tab.run("document.querySelector('[aria-label=Keys]').click()")
}

async function openMcp(tab: Tab, prepared: Prepared): Promise<void> {
  const { rest } = prepared.server
  await rest.post('/api/settings/mcp/search', { command: 'true', args: ['--no-server', wordless] })
  await rest.post('/api/settings/mcp/remote', { url: 'http://127.0.0.1:9/mcp', auth: { strategy: 'oauth2' } })
  await at('mcp', '/settings/mcp', '.entry + .entry').open(tab, prepared)
}

/** Opens a path. The view is opened anew also when it is open already. */
async function go(tab: Tab, path: string): Promise<void> {
  await tab.run("document.querySelector('dialog')?.close()")
  await tab.run("document.querySelector('.shell').classList.remove('side-open')")
  await tab.run("void (location.hash = '#/none')")
  await tab.until("document.querySelector('.task-box') !== null")
  await tab.run(`void (location.hash = ${JSON.stringify(`#${path}`)})`)
}
