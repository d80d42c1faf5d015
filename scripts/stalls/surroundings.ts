/**
 * Attacks by the surroundings of a conversation: files of its workspace, commands, histories, lookups, sign-ins,
 * queries, and long texts beside secrets that take the longest to look for.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { textAt } from '../../test/support/rest.ts'
import type { Attack } from './model.ts'
import type { StalledServer } from './server.ts'
import {
  acp, builtIn, items, makeConversation, MB, members, outcome, runToEnd, shown, waitForEnd, withModel, type NamedAttack,
} from './work.ts'

const commonSecrets = secretsOf(700, (index) => `${'common beginning '.repeat(4)}${String(index).padStart(4, '0')}`)
const lineSecrets = secretsOf(200, (index) => `${'a'.repeat(200)}${index}`)

export const surroundings: readonly NamedAttack[] = [
  command('one line', '15 MB', "head -c 15000000 /dev/zero | tr '\\0' x"),
  command('short lines', '15 MB', 'yes a | head -c 15000000'),
  command('escape sequences', '15 MB', "yes $'\\e[31m\\e[2K\\e[10;10H' | tr -d '\\n' | head -c 15000000"),
  command('an escape sequence without an end', '15 MB', "printf '\\e]0;'; head -c 15000000 /dev/zero | tr '\\0' x"),
  command('lines that overwrite each other', '15 MB', "yes $'abc\\rde\\b\\b' | head -c 15000000"),
  onFile('file_editor', 'views a file of one line', 15 * MB, 'x'.repeat(15 * MB), { command: 'view', path: 'big.txt' }),
  onFile('file_editor', 'views a file of short lines', 15 * MB, 'a\n'.repeat(7_500_000), {
    command: 'view', path: 'big.txt',
  }),
  onFile('file_editor', 'replaces in a file', 15 * MB, 'a\n'.repeat(7_500_000), {
    command: 'str_replace', path: 'big.txt', old_str: 'ab', new_str: 'c',
  }),
  onFile('grep', 'searches a file of short lines', 15 * MB, 'a\n'.repeat(7_500_000), { pattern: 'a' }),
  onFile('grep', 'searches with a pattern that goes back', 15 * MB, 'a'.repeat(15 * MB), { pattern: '(a+)+b' }),
  skills('AGENTS.md of one line', '60 KB', (folder) => writeFileSync(join(folder, 'AGENTS.md'), 'x'.repeat(60_000))),
  skills('AGENTS.md', '100 MB', (folder) => writeFileSync(join(folder, 'AGENTS.md'), Buffer.alloc(100 * MB, 'x'))),
  skills('skills of 60 KB', '1,000', (folder) => {
    return manySkills(folder, 1000, (index) => {
      return `---\nname: s${index}\ndescription: d\ntriggers: [${'a, '.repeat(18_000)}b]\n---\nText\n`
    })
  }),
  lookup('a value', 100 * MB),
  lookup('a value that is let in', 60_000),
  stuck(),
  condensed(),
  { name: 'title: of a long message', size: '15 MB', run: (server) => withModel(() => said('A title'), async (url) => {
    const id = await makeConversation(server, builtIn('openai/gpt-4o', url), { autotitle: true })
    return outcome(
      await server.rest.post(`/api/conversations/${id}/events`, { content: 'word '.repeat(3 * MB), run: true }),
    )
  }) },
  ...['t ', '"'].map(
    (piece): NamedAttack => ({ name: `title: ${piece} without an end`, size: '1 MB',
      run: (server) => withModel(() => said(piece.repeat(MB / piece.length)), async (url) => {
      const id = await makeConversation(server, builtIn('openai/gpt-4o', url), { autotitle: true })
      await server.rest.post(`/api/conversations/${id}/events`, { content: 'Go', run: true })
      return (await waitForEnd(server, id)) ?? outcome(await server.rest.get(`/api/conversations/${id}`))
    }, 2) }),
  ),
  { name: 'state: all of it at its limits, to 50 sockets', size: '1,000', run: fullStates },
  { name: 'query: many ids', size: '300', run: async (server) => {
    const id = await makeConversation(server, acp('', 0))
    await server.rest.get(
      `/api/conversations/${id}/events?${items(300, (index) => `ids=${String(index).padStart(32, '0')}`).join('&')}`,
    )
    return outcome(
      await server.rest.get(
        `/api/conversations?${items(300, (index) => `ids=${String(index).padStart(32, '0')}`).join('&')}`,
      ),
    )
  } },
  { name: 'query: a pattern for texts', size: '20 x 800 KB', prepare: fill, run: async ({ rest }) => {
    const id = textAt((await rest.get('/api/conversations/search')).json, 'items', 0, 'id')
    return outcome(await rest.get(`/api/conversations/${id}/events/search?body=${'xX'.repeat(512)}`))
  } },
  {
    name: 'sign-in: documents of an authorization server',
    size: '15 MB',
    run: (server) =>
      withModel(() => whole(`{"issuer":"x","a":"${'x'.repeat(15 * MB)}"}`), (url) => signIn(server, url), 100),
  },
  {
    name: 'sign-in: values in such a document',
    size: '5,000,000',
    run: (server) => withModel(() => whole(`{"a":[${'{},'.repeat(5 * MB)}{}]}`), (url) => signIn(server, url), 100),
  },
  {
    name: 'secrets: a message of lines beside them',
    size: '1 MB',
    run: (server) => runToEnd(server, acp('short-lines', MB), { secrets: lineSecrets }),
  },
  {
    name: 'secrets: a message of numbered lines',
    size: '5 MB',
    run: (server) => runToEnd(server, acp('numbered-lines', 5 * MB), { secrets: commonSecrets }),
  },
  {
    name: 'secrets: an output of lines beside them',
    size: '1 MB',
    run: (server) => runToEnd(server, acp('raw-output-lines', MB), { secrets: lineSecrets }),
  },
  {
    name: 'secrets: an output of lines in pieces beside them',
    size: '1 MB',
    run: (server) => runToEnd(server, acp('terminal-lines', MB), { secrets: lineSecrets }),
  },
  {
    name: 'secrets: an output of lines in blocks beside them',
    size: '1 MB',
    run: (server) => runToEnd(server, acp('blocks-lines', MB), { secrets: lineSecrets }),
  },
  {
    name: 'secrets: an answer of lines beside them',
    size: '3 MB',
    run: (server) => {
      return withModel(() => said('a\n'.repeat(1_500_000)), (url) => {
        return runToEnd(server, builtIn('openai/gpt-4o', url), { secrets: lineSecrets })
      })
    },
  },
  { name: 'secrets: as many as are masked', size: '560', run: async (server) => {
    const id = await makeConversation(server, acp('', 0), { secrets: secretsOf(560, (index) => noise(80, index)) })
    return outcome(await server.rest.get(`/api/conversations/${id}`))
  } },
  { name: 'secrets: registered, then used', size: '700 x 3', run: async (server) => {
    for (let left = 3; left > 0; left--) {
      await makeConversation(server, acp('', 0), {
        secrets: secretsOf(700, (index) => `secret-${left}-${index}-${'0123456789'.repeat(2)}`),
      })
    }
    return outcome(await server.rest.get('/api/conversations/search'))
  } },
]

/** The built-in agent runs a command. */
function command(name: string, size: string, text: string): NamedAttack {
  return { name: `command: ${name}`, size, run: (server) => withCall(server, 'terminal', { command: text }) }
}

function onFile(tool: string, name: string, bytes: number, text: string, args: object): NamedAttack {
  return {
    name: `${tool}: ${name}`,
    size: `${bytes / MB} MB`,
    prepare: async ({ workspaceDir }) => {
      mkdirSync(workspaceDir, { recursive: true })
      writeFileSync(join(workspaceDir, 'big.txt'), text)
    },
    run: (server) => {
      const path = 'path' in args ? { path: join(server.workspaceDir, 'big.txt') } : {}
      return withCall(server, tool, { ...args, ...path }, { workspace: { working_dir: server.workspaceDir } })
    },
  }
}

function withCall(server: StalledServer, tool: string, args: object, more: object = {}, times = 1): Promise<string> {
  return withModel(() => calls(tool, args), (url) => {
    return runToEnd(server, { ...builtIn('openai/gpt-4o', url), tools: [{ name: tool }] }, more)
  }, times)
}

/** The model calls one tool after the other. */
export function withCalls(
  server: StalledServer, steps: readonly (readonly [tool: string, args: object])[],
): Promise<string> {
  let step = 0
  const next = (): Attack => {
    const [tool, args] = steps[step++] ?? ['finish', { message: 'Done' }]
    return calls(tool, args)
  }
  return withModel(next, (url) => {
    return runToEnd(server, { ...builtIn('openai/gpt-4o', url), tools: steps.map(([name]) => ({ name })) })
  }, steps.length)
}

function skills(name: string, size: string, write: (folder: string) => void): NamedAttack {
  return {
    name: `skills: ${name}`,
    size,
    prepare: async ({ workspaceDir }) => {
      mkdirSync(workspaceDir, { recursive: true })
      write(workspaceDir)
    },
    run: (server) => withModel(() => said('Done'), (url) => {
      const agent_context = { load_project_skills: true, load_memory: true }
      return runToEnd(server, { ...builtIn('openai/gpt-4o', url), agent_context }, {
        workspace: { working_dir: server.workspaceDir },
      })
    }),
  }
}

function manySkills(folder: string, count: number, text: (index: number) => string): void {
  mkdirSync(join(folder, '.agents/skills'), { recursive: true })
  for (let index = 0; index < count; index++) writeFileSync(join(folder, '.agents/skills', `s${index}.md`), text(index))
}

function lookup(name: string, chars: number): NamedAttack {
  return {
    name: `lookup: ${name}`,
    size: String(chars),
    run: (server) => withModel(() => whole('x y'.repeat(chars / 3)), (far) => {
      const secrets = { FAR: { kind: 'LookupSecret', url: `${far}/secret` } }
      return withCall(server, 'terminal', { command: 'echo $FAR' }, { secrets })
    }, 10),
  }
}

/** The same long call again and again, until the agent is found to go in circles. */
function stuck(): NamedAttack {
  return {
    name: 'stuck: the same long call',
    size: '900 KB x 8',
    run: (server) => withCall(server, 'think', { thought: 'x'.repeat(900_000) }, {}, 8),
  }
}

function condensed(): NamedAttack {
  return {
    name: 'condensing: a history of long messages',
    size: '20 x 800 KB',
    run: (server) => withModel(() => said('A summary'), async (url) => {
      const agent = {
        ...builtIn('openai/gpt-4o', url),
        condenser: { kind: 'LLMSummarizingCondenser', max_size: 20, keep_first: 1, llm: builtInLlm(url) },
      }
      const id = await makeConversation(server, agent, { secrets: lineSecrets })
      for (let left = 20; left > 0; left--) {
        await server.rest.post(`/api/conversations/${id}/events`, { content: 'x\n'.repeat(400_000) })
      }
      await server.rest.post(`/api/conversations/${id}/events`, { content: 'Go', run: true })
      return (await waitForEnd(server, id)) ?? outcome(await server.rest.post(`/api/conversations/${id}/condense`))
    }, 10),
  }
}

function builtInLlm(url: string): object {
  return {
    model: 'openai/gpt-4o', base_url: `${url}/v1`, api_key: 'a-key-of-a-model', num_retries: 0, usage_id: 'condenser',
  }
}

async function fullStates(server: StalledServer): Promise<string> {
  const secrets = secretsOf(1000, (index) => `a-value-of-a-secret-${index}`)
  const client_tools = items(1000, (index) => ({ name: `t${index}`, description: 'd'.repeat(1000) }))
  const tags = Object.fromEntries(items(100, (index) => [`k${index}`, 'v'.repeat(200)]))
  const id = await makeConversation(server, acp('', 0), { secrets, client_tools, tags })
  const clients = await Promise.all(items(50, () => server.socket(id)))
  const states = await Promise.all(clients.map((client) => client.next()))
  await Promise.all(clients.map((client) => client.close()))
  return shown(`${states[0]?.length} characters each`)
}

async function fill({ rest }: StalledServer): Promise<void> {
  const id = textAt((await rest.post('/api/conversations', { autotitle: false, agent: acp('', 0) })).json, 'id')
  for (let left = 20; left > 0; left--) {
    await rest.post(`/api/conversations/${id}/events`, { content: 'xX'.repeat(400_000) })
  }
}

async function signIn({ rest }: StalledServer, url: string): Promise<string> {
  return outcome(
    await rest.post('/api/mcp/oauth/start', { server: { url: `${url}/mcp`, auth: { strategy: 'oauth2' } } }),
  )
}

function secretsOf(count: number, value: (index: number) => string): object {
  return members(count, (index) => ({ kind: 'StaticSecret', value: value(index) }))
}

/** Makes printable characters without repetition, other characters for each seed. */
function noise(length: number, seed: number): string {
  let state = seed + 1
  return items(length, () => {
    state = (state * 48_271) % 0x7fff_ffff
    return String.fromCharCode(33 + (state % 90))
  }).join('')
}

function calls(name: string, args: object): Attack {
  const call = {
    id: 't',
    type: 'function',
    function: { name, arguments: JSON.stringify({ summary: 's', security_risk: 'LOW', ...args }) },
  }
  return whole(JSON.stringify({ id: 'c', choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }))
}

function said(content: string): Attack {
  return whole(JSON.stringify({ id: 'c', choices: [{ message: { content }, finish_reason: 'stop' }] }))
}

function whole(text: string): Attack {
  return { type: 'application/json', pieces: [text] }
}
