/** The settings of the server, in sections. Each section has an address, such as `#/settings/secrets`. */
import type { ServerApi } from '../api.ts'
import { element, fill } from '../dom.ts'
import type { View } from '../router.ts'
import { showColours } from './colours.ts'
import { showMcp } from './mcp.ts'
import { showProfiles } from './profiles.ts'
import { showAgentSettings } from './schema-form.ts'
import { showSecrets } from './secrets.ts'
import { showSessions } from './sessions.ts'
import { showStorage } from './storage.ts'

const sections = [
  { name: 'agent', title: 'Agent', show: showAgentSettings },
  { name: 'secrets', title: 'Secrets', show: showSecrets },
  { name: 'profiles', title: 'Profiles', show: showProfiles },
  { name: 'mcp', title: 'MCP servers', show: showMcp },
  { name: 'sessions', title: 'Keys and sessions', show: showSessions },
  { name: 'storage', title: 'Storage', show: showStorage },
  { name: 'colours', title: 'Colours', show: showColours },
] as const

export function openSettings(root: HTMLElement, api: ServerApi, asked: string): View {
  const section = sections.find(({ name }) => name === asked) ?? sections[0]
  const ended = new AbortController()
  const body = element('div', { class: 'section' })
  fill(root, element('div', { class: 'page settings' },
    element('h1', {}, 'Settings'),
    element('nav', { class: 'tabs', 'aria-label': 'Settings' }, sections.map(({ name, title }) => {
      const current = name === section.name ? 'page' : undefined
      return element('a', { href: `#/settings/${name}`, 'aria-current': current }, title)
    })),
    body))
  root.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  void section.show(body, { api, signal: ended.signal })
  return { close: () => ended.abort() }
}
