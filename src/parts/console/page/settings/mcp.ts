/** The section of the settings for MCP servers. */
import { problemOf, type Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { isObject, listAt, memberAt, objectAt, textAt, type Members } from '../values.ts'
import { button, field, form, loadFault, Status } from '../widgets.ts'
import type { SectionContext } from './section.ts'

const pollMs = 1000

export async function showMcp(root: HTMLElement, context: SectionContext): Promise<void> {
  const { api, signal } = context
  const status = new Status()
  const list = element('ul', { class: 'entries' })
  const load = async (): Promise<void> => {
    const answer = await api.get('/api/settings', signal)
    if (signal.aborted) return
    if (answer.status !== 200) return fill(list, element('li', {}, loadFault('The MCP servers', answer, load)))
    const config = objectAt(answer.json, 'agent_settings', 'mcp_config')
    const servers = Object.entries(config).filter(([, one]) => isObject(one))
    fill(list, servers.length === 0 && element('li', { class: 'hint' }, 'No MCP servers yet'),
      servers.map(([name, server]) => item(name, objectAt(server), { ...context, status, load })))
  }
  const name = element('input', { required: true, spellcheck: 'false' })
  const target = element('input', {
    required: true, spellcheck: 'false', placeholder: 'npx -y @scope/server',
  })
  const oauth = element('input', { type: 'checkbox' })
  const draft = (): Members => serverOf(target.value.trim(), oauth.checked)
  const save = async (): Promise<void> => {
    const answer = await api.post(`/api/settings/mcp/${encodeURIComponent(name.value.trim())}`, draft())
    if (!status.settle(answer, `${name.value.trim()} is added.`, { name, command: target, url: target })) return
    for (const input of [name, target]) input.value = ''
    await load()
  }
  fill(root, element('p', {}, 'Servers of the Model Context Protocol, which give agents more tools.'), list,
    form(save, element('h2', {}, 'Add'), field('Name', name),
      field('Command or address', target, 'An address begins with https:// or http://.'),
      field('Signs in by OAuth', oauth), status.element,
      element('div', { class: 'actions' }, element('button', { class: 'primary' }, 'Add'),
        button('Try', async () => {
          if (target.reportValidity()) await tryServer(api, status, name.value.trim() || 'test-server', draft())
        }))))
  await load()
}

interface ItemContext extends SectionContext {
  readonly status: Status
  readonly load: () => Promise<void>
}

function item(name: string, server: Members, { api, signal, status, load }: ItemContext): HTMLElement {
  const at = `/api/settings/mcp/${encodeURIComponent(name)}`
  const isOn = server['enabled'] !== false
  const target = textAt(server, 'url') || [textAt(server, 'command'), ...listAt(server, 'args')].join(' ')
  const signsIn = textAt(server, 'auth', 'strategy') === 'oauth2'
  return element('li', { class: 'entry' },
    element('div', {}, element('strong', {}, name), !isOn && ' (off)', element('p', { class: 'hint' }, target)),
    button('Try', () => tryServer(api, status, name, server), 'small'),
    signsIn && button('Sign in', () => signIn({ api, signal, status, name, server }), 'small'),
    button(isOn ? 'Switch off' : 'Switch on', async () => {
      if (status.settle(await api.patch(at, { enabled: !isOn }), 'Saved.')) await load()
    }, 'small'),
    button('Remove', async () => {
      if (status.settle(await api.delete(at), `${name} is removed.`)) await load()
    }, 'small danger'))
}

async function tryServer(api: Api, status: Status, name: string, server: Members): Promise<void> {
  status.tell('Trying …')
  const answer = await api.post('/api/mcp/test', { name, server })
  if (answer.status !== 200) return status.fail(problemOf(answer))
  if (memberAt(answer.json, 'ok') !== true) return status.fail(textAt(answer.json, 'error'))
  status.tell(`Works. Its tools: ${listAt(answer.json, 'tools').join(', ') || 'none'}`)
}

interface SigningIn extends SectionContext {
  readonly status: Status
  readonly name: string
  readonly server: Members
}

async function signIn({ api, signal, status, name, server }: SigningIn): Promise<void> {
  const begun = await api.post('/api/mcp/oauth/start', { name, server })
  const address = textAt(begun.json, 'authorization_url')
  if (address === '') return status.fail(textAt(begun.json, 'error') || problemOf(begun))
  status.tell('')
  fill(status.element, 'Agree there, then come back: ',
    element('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, new URL(address).origin))
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    const { json, status: code } = await api.get(`/api/mcp/oauth/status/${textAt(begun.json, 'job_id')}`, signal)
    const state = textAt(json, 'status')
    if (state === 'succeeded') return status.tell(`Signed in. Its tools: ${listAt(json, 'tools').join(', ')}`)
    if (state === 'failed' || code !== 200) return status.fail(textAt(json, 'error') || 'The sign-in failed.')
  }
}

/**
 * Returns the settings of the MCP server at `target`, an HTTP address or a command. With `signsIn`, an address gets
 * the setting for OAuth. For a command, `signsIn` has no effect.
 */
function serverOf(target: string, signsIn: boolean): Members {
  const auth = signsIn ? { auth: { strategy: 'oauth2' } } : {}
  if (/^https?:\/\//.test(target)) return { url: target, ...auth }
  const [command = '', ...args] = target.split(/\s+/)
  return { command, args }
}
