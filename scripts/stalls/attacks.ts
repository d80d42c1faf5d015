/**
 * The attacks: each has a sender, the bytes and their number, and a server of its own. A run returns its outcome in a
 * few words.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import { member, textAt } from '../../test/support/rest.ts'
import { frame } from '../../test/support/ws-client.ts'
import { models } from './model.ts'
import type { StalledServer } from './server.ts'
import { pages } from './pages.ts'
import { surroundings } from './surroundings.ts'
import {
  acp, besideThis, builtIn, items, list, longestMs, makeConversation, MB, members, MiB, outcome, runToEnd, shown,
  withModel, type NamedAttack,
} from './work.ts'

export const control: NamedAttack = { name: 'control: two usual requests', size: '-', run: async ({ rest }) => {
  await sleep(1000)
  await rest.post('/api/conversations', { agent: acp('', 0) })
  return outcome(await rest.get('/api/conversations/search'))
} }

export const attacks: readonly NamedAttack[] = [
  ...requests(),
  ...sockets(),
  ...agents(),
  ...mcpServers(),
  ...answers(),
  ...surroundings,
  ...pages,
]

function create(members: object): string {
  return JSON.stringify({ autotitle: false, agent: acp('', 0), ...members })
}

function post(name: string, size: string, path: string, body: () => string): NamedAttack {
  const run: NamedAttack['run'] = async ({ rest }) => outcome(await rest.send('POST', path, { raw: body() }))
  return { name: `request: ${name}`, size, run }
}

function made(name: string, count: number, members: () => object): NamedAttack {
  return post(`create with ${name}`, `${count}`, '/api/conversations', () => create(members()))
}

function messageOf(name: string, size: string, content: () => string, isRun = false): NamedAttack {
  const run: NamedAttack['run'] = async (server) => {
    const id = await makeConversation(server, acp('', 0))
    const answer = await server.rest.send('POST', `/api/conversations/${id}/events`, {
      raw: `{"content":${content()},"run":${isRun}}`,
    })
    const read = await server.rest.get(`/api/conversations/${id}/events/search`)
    await server.rest.get(`/api/conversations/${id}`)
    return `${outcome(answer)}, read ${read.status}`
  }
  return { name: `request: message ${name}`, size, run }
}

function requests(): NamedAttack[] {
  return [...creations(), ...messages(), ...stored()]
}

function creations(): NamedAttack[] {
  return [
    post('{} in a list', '16 MB', '/api/conversations', () => `[${'{},'.repeat(5_300_000)}{}]`),
    post('[ nested', '16 MB', '/api/conversations', () => '['.repeat(16 * MB)),
    post('no JSON after a long text', '16 MB', '/api/conversations', () => `{"a":"${'\\n'.repeat(8 * MB - 20)}"x`),
    post('members of one object', '49,000', '/api/conversations', () => {
      return `{${list(24_500, (index) => `"k${index}":1`)}}`
    }),
    post('a number of many digits', '16 MB', '/api/conversations', () => {
      return `{"max_iterations":${'1'.repeat(16 * MB - 30)}}`
    }),
    post('a name of a member', '16 MB', '/api/conversations', () => `{"${'k'.repeat(16 * MB - 30)}":1}`),
    made('client_tools', 150_000, () => ({
      client_tools: items(150_000, (index) => ({ name: `t${index}`, description: 'd' })),
    })),
    made('client_tools', 8_000, () => ({
      client_tools: items(8_000, (index) => ({ name: `t${index}`, description: 'd' })),
    })),
    made('tags', 900_000, () => ({ tags: members(900_000, () => '1') })),
    made('tags', 24_000, () => ({ tags: members(24_000, () => '1') })),
    made('tools', 24_000, () => ({
      agent: { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: items(24_000, () => ({ name: 'x' })) },
    })),
    made('secrets', 10_000, () => ({
      secrets: members(10_000, (index) => ({ kind: 'StaticSecret', value: `secret-value-${index}` })),
    })),
    made('MCP servers', 8_000, () => ({
      agent: { ...acp('', 0), mcp_config: members(8_000, () => ({ command: 'x' })) },
    })),
    made('words of a command', 40_000, () => ({ agent: { kind: 'ACPAgent', acp_command: items(40_000, () => 'x') } })),
    made('one tag of 16 MB', 1, () => ({ tags: { a: 'x'.repeat(16 * MB - 500) } })),
    made('hooks', 10_000, () => ({
      hook_config: { pre_tool_use: items(10_000, () => ({ hooks: [{ command: 'x' }] })) },
    })),
  ]
}

function messages(): NamedAttack[] {
  return [
    messageOf('with blocks', '16,000', () => `[${list(16_000, () => '{"type":"text","text":"a"}')}]`),
    messageOf('with images', '16,000', () => `[{"type":"image","image_urls":[${list(16_000, () => '"http://a/"')}]}]`),
    messageOf('of one text', '16 MiB', () => JSON.stringify('x'.repeat(16 * MiB - 200))),
    messageOf('of one text, run', '16 MiB', () => JSON.stringify('x'.repeat(16 * MiB - 200)), true),
    messageOf('of one wide text', '16 MiB', () => JSON.stringify('é€'.repeat(3_300_000))),
    messageOf('of escaped text', '16 MiB', () => JSON.stringify('"\n'.repeat(4 * MB))),
    messageOf('of one image', '16 MiB', () => {
      return JSON.stringify([{ type: 'image', image_urls: [`data:image/png;base64,${'iVBO'.repeat(4 * MB)}`] }])
    }),
  ]
}

function stored(): NamedAttack[] {
  return [
    {
      name: 'request: settings with a long text',
      size: '4 MB',
      run: async ({ rest }) =>
        outcome(await rest.patch('/api/settings', { misc_settings_diff: { a: 'x'.repeat(4 * MB) } })),
    },
    {
      name: 'request: settings with members',
      size: '24,000',
      run: async ({ rest }) =>
        outcome(await rest.patch('/api/settings', { misc_settings_diff: members(24_000, () => 1) })),
    },
    {
      name: 'request: secret of 16 MB',
      size: '16 MB',
      run: async ({ rest }) =>
        outcome(await rest.put('/api/settings/secrets', { name: 'A', value: 'x'.repeat(16 * MB - 100) })),
    },
    { name:
      'request: search of events by text', size: '16 MiB, 20 x', prepare: fillWithTexts, run: async ({ rest }) => {
      const id = textAt((await rest.get('/api/conversations/search')).json, 'items', 0, 'id')
      return outcome(await rest.get(`/api/conversations/${id}/events/search?body=${'x'.repeat(1000)}y`))
    } },
    secretsWithOneBeginning(),
  ]
}

function sockets(): NamedAttack[] {
  const message = (name: string, size: string, text: () => string, isCompressed = false): NamedAttack => ({
    name: `socket: ${name}`,
    size,
    run: async (server) => {
      const id = await makeConversation(server, acp('', 0))
      const client = await server.socket(id, isCompressed ? { 'Sec-WebSocket-Extensions': 'permessage-deflate' } : {})
      await client.next()
      if (isCompressed) client.write(compressed(text()))
      else client.send(text())
      const answer = await Promise.race([client.next(), sleep(longestMs, 'no answer')])
      await client.close()
      return shown(String(member(JSON.parse(answer), 'code') ?? member(JSON.parse(answer), 'kind')))
    },
  })
  const text = (words: string): string => JSON.stringify({ role: 'user', content: [{ type: 'text', text: words }] })
  return [
    message('[] in a list', '16 MB', () => `[${'[],'.repeat(5_300_000)}[]]`),
    message('[] in a list, compressed', '16 MB', () => `[${'[],'.repeat(5_300_000)}[]]`, true),
    message('[ nested, compressed', '16 MB', () => '['.repeat(16 * MB), true),
    message('one text', '16 MiB', () => text('x'.repeat(16 * MiB - 100))),
    message('one text, compressed', '16 MiB', () => text('x'.repeat(16 * MiB - 100)), true),
    message('one wide text, compressed', '16 MiB', () => text('é€'.repeat(3_300_000)), true),
    message('blocks', '16,000', () => {
      return JSON.stringify({ role: 'user', content: items(16_000, () => ({ type: 'text', text: 'a' })) })
    }),
  ]
}

function agents(): NamedAttack[] {
  const line = (name: string, count: number, unit = ''): NamedAttack => ({
    name: `agent: ${name}`,
    size: unit === 'MB' ? `${count / MB} MB` : String(count),
    run: async (server) => runToEnd(server, acp(name, count)),
  })
  return [
    ...[15 * MB, 30 * MB, 90 * MB].map((count) => line('raw-input', count, 'MB')),
    line('raw-input', 140_000),
    line('raw-input-strings', 48_000),
    line('raw-input-members', 24_000),
    line('raw-output', 16_000),
    line('blocks', 5_000),
    line('commands', 16_000),
    line('plan', 9_000),
    ...[
      'raw-input-text', 'raw-output-text', 'fences', 'title', 'kind', 'id', 'message', 'message-escaped',
      'message-wide', 'thought', 'image', 'plan-text', 'diff',
    ]
      .map((name) => line(name, 15 * MB, 'MB')),
    line('chunks', 100_000),
    line('chunks-ids', 10_000),
    line('images', 20_000),
    line('updates', 3_000),
    line('terminal-deltas', 20_000),
    line('calls', 10_000),
    line('ended-calls', 10_000),
    line('plans', 2_000),
    line('noise', 50_000),
  ]
}

function mcpServers(): NamedAttack[] {
  const attack = (name: string, count: number, unit = ''): NamedAttack => ({
    name: `MCP server: ${name}`,
    size: unit === 'MB' ? `${count / MB} MB` : String(count),
    run: (server) => withModel(callsTool, (url) => {
      const mcp_config = { far: { command: process.execPath, args: [besideThis('mcp.js'), name, String(count)] } }
      return runToEnd(server, { ...builtIn('openai/gpt-4o', url), mcp_config })
    }),
  })
  const callsTool = (): ReturnType<(typeof models)[string]> => ({
    type: 'application/json',
    pieces: ['{"id":"c","choices":[{"message":{"tool_calls":[{"id":"t","type":"function","function":{"name":"attack","arguments":"{\\"summary\\":\\"s\\",\\"security_risk\\":\\"LOW\\"}"}}]},"finish_reason":"tool_calls"}]}'],
  })
  return [
    attack('values', 15 * MB, 'MB'), attack('values', 120_000), attack('blocks', 8_000), attack('text', 7 * MB, 'MB'),
    attack('image', 7 * MB, 'MB'),
    attack('tools', 4_000), attack('description', 7 * MB, 'MB'), attack('schema', 45_000),
  ]
}

function answers(): NamedAttack[] {
  const sizes: Readonly<Record<string, number>> = {
    'chat values': 15 * MB, 'chat endless nesting': 100 * MB, 'chat details': 500, 'chat empty data lines': 2_000_000,
    'chat one line in pieces': 100 * MB,
    'anthropic blocks': 5_500, 'responses items': 5_000, 'gemini parts': 9_000, 'chat one long event': 15 * MB,
  }
  const named: Readonly<Record<string, string>> = {
    chat: 'openai/gpt-4o', anthropic: 'anthropic/claude-x', responses: 'openai/gpt-5.5',
    gemini: 'gemini/gemini-2.5-pro',
  }
  const answer = (name: string, count: number): NamedAttack => ({
    name: `model: ${name}`,
    size: String(count),
    run: (server) => withModel(() => models[name]?.(count) ?? { type: 'application/json', pieces: [] }, (url) => {
      const [format = ''] = name.split(' ')
      return runToEnd(
        server, builtIn(named[format] ?? '', url, format === 'responses' ? { api_mode: 'responses' } : {}),
      )
    }),
  })
  return [
    answer('chat text', 100 * MB),
    ...Object.keys(models).map((name) => answer(name, sizes[name] ?? (name.endsWith(' text') ? 15 * MB : 100_000))),
  ]
}

/** A conversation in which much has been said. */
async function fillWithTexts({ rest }: StalledServer): Promise<void> {
  const id = textAt((await rest.post('/api/conversations', { autotitle: false, agent: acp('', 0) })).json, 'id')
  for (let left = 20; left > 0; left--) {
    await rest.post(`/api/conversations/${id}/events`, { content: 'x'.repeat(800_000) })
  }
}

function secretsWithOneBeginning(): NamedAttack {
  const secrets = Object.fromEntries(
    items(700, (index) => [
      `SECRET_${index}`,
      { kind: 'StaticSecret', value: `${'common beginning '.repeat(4)}${String(index).padStart(4, '0')}` },
    ]),
  )
  return {
    name: 'agent: text that begins 700 secrets',
    size: '1 MB',
    run: async (server) => runToEnd(server, acp('secret-beginnings', MB), { secrets }),
  }
}

/** A text frame with the first reserved bit set (RFC 7692, section 6). */
function compressed(text: string): Buffer {
  const bytes = frame(0x1, deflateRawSync(text, { finishFlush: 2 }).subarray(0, -4))
  bytes[0] = (bytes[0] ?? 0) | 0x40
  return bytes
}
