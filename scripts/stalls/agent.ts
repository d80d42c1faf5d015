/**
 * An agent that attacks: a program that speaks ACP as far as a prompt, and then writes the bytes that its arguments
 * name.
 *
 * `node agent.js ATTACK SIZE`. It writes raw lines, no faster than they are read.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isObject } from '../../src/base/json.ts'

const [, , attack = '', size = '0'] = process.argv
const count = Number(size)
const session = 'session-of-the-attack'

async function answer(id: unknown, method: string): Promise<void> {
  if (method === 'session/prompt') await run()
  const results: Readonly<Record<string, object>> = {
    initialize: { protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: 'attacker', version: '1' } },
    'session/new': { sessionId: session },
    'session/prompt': { stopReason: 'end_turn' },
  }
  await write(`${JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} })}\n`)
}

async function run(): Promise<void> {
  for (const update of updates()) {
    const text = typeof update === 'string' ? update : JSON.stringify(update)
    await write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${session}","update":${text}}}\n`)
  }
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

function call(members: string): string {
  return `{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Work","kind":"other","status":"in_progress",${members}}`
}

function chunk(text: string, more: object = {}): object {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more }
}

const attacks: Readonly<Record<string, () => Iterable<object | string>>> = {
  'raw-input': () => [call(`"rawInput":{"a":[${repeated('{}', count / 3)}]}`)],
  'raw-input-text': () => [call(`"rawInput":{"a":"${'x'.repeat(count)}"}`)],
  'raw-input-strings': () => [call(`"rawInput":{"a":[${repeated('"abcdefgh"', count)}]}`)],
  'raw-input-members': () => [call(`"rawInput":{${repeatedBy((index) => `"k${index}":${index}`, count)}}`)],
  'raw-output': () => [
    call(`"rawOutput":[${repeated('{"a":1}', count)}]`),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' },
  ],
  'raw-output-text': () => [
    call(`"rawOutput":${JSON.stringify('line of output\n'.repeat(count / 15))}`),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' },
  ],
  'fences': () => [
    call(
      `"content":[{"type":"content","content":{"type":"text","text":"${'`'.repeat(count / 3)}\\n` +
        `${'`'.repeat(count / 2)}x"}}]`,
    ),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' },
  ],
  'blocks': () => [
    call(`"content":[${repeated('{"type":"content","content":{"type":"text","text":"a"}}', count)}]`),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' },
  ],
  'title': () => [`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"${'t'.repeat(count)}","kind":"other","status":"in_progress","rawInput":{"a":1}}`],
  'kind': () => [`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"t","kind":"${'t'.repeat(count)}","status":"in_progress","rawInput":{"a":1}}`],
  'id': () => [`{"sessionUpdate":"tool_call","toolCallId":"${'t'.repeat(count)}","title":"t","kind":"other","status":"in_progress","rawInput":{"a":1}}`],
  'secret-beginnings': () => [chunk('common beginning '.repeat(count / 17))],
  'short-lines': () => [chunk('a\n'.repeat(count / 2))],
  'numbered-lines': () => [
    chunk(Array.from({ length: count / 30 }, (_, index) => `${index}: common beginning again`).join('\n')),
  ],
  'raw-output-lines': () => [
    call(`"rawOutput":${JSON.stringify('a\n'.repeat(count / 2))}`),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' },
  ],
  'terminal-lines': () => {
    return range(count / 1000, (index) => ({
      sessionUpdate: index === 0 ? 'tool_call' : 'tool_call_update',
      toolCallId: 'c1',
      title: 't',
      kind: 'execute',
      status: index === count / 1000 - 1 ? 'completed' : 'in_progress',
      rawInput: { command: 'x' },
      _meta: { terminal_output_delta: { data: 'a\n'.repeat(500) } },
    }))
  },
  'blocks-lines': () => [call(`"content":[${repeated(JSON.stringify({ type: 'content', content: { type: 'text', text: 'a\n'.repeat(500) } }), count / 1000)}]`), { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' }],
  'message': () => [chunk('x'.repeat(count))],
  'message-escaped': () => [chunk('"\n'.repeat(count / 4))],
  'message-wide': () => [chunk(`${'é€'.repeat(count / 5)}`)],
  'thought': () => [{ ...chunk('x'.repeat(count)), sessionUpdate: 'agent_thought_chunk' }],
  'image': () => [
    {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'image', mimeType: 'image/png', data: 'iVBO'.repeat(count / 4) },
    },
  ],
  'chunks': () => range(count, () => chunk('word ')),
  'chunks-ids': () => range(count, (index) => chunk('w', { messageId: `m${index}` })),
  'images': () => {
    return range(count, () => ({
      sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: 'iVBO' },
    }))
  },
  'updates': () => {
    return range(count, (index) => ({
      sessionUpdate: index === 0 ? 'tool_call' : 'tool_call_update', toolCallId: 'c1', title: 't', kind: 'execute',
      status: 'in_progress', rawInput: { command: 'x' },
      content: [{ type: 'content', content: { type: 'text', text: 'grown '.repeat(index) } }],
    }))
  },
  'terminal-deltas': () => {
    return range(count, (index) => ({
      sessionUpdate: index === 0 ? 'tool_call' : 'tool_call_update',
      toolCallId: 'c1',
      title: 't',
      kind: 'execute',
      status: index === count - 1 ? 'completed' : 'in_progress',
      rawInput: { command: 'x' },
      _meta: { terminal_output_delta: { data: 'output of a command\n' } },
    }))
  },
  'calls': () => {
    return range(count, (index) => ({
      sessionUpdate: 'tool_call', toolCallId: `c${index}`, title: 't', kind: 'other', status: 'pending',
    }))
  },
  'ended-calls': () => {
    return range(count, (index) => ({
      sessionUpdate: 'tool_call', toolCallId: `c${index}`, title: 't', kind: 'other', status: 'completed',
      rawInput: { a: 1 },
    }))
  },
  'plan': () => [
    {
      sessionUpdate: 'plan',
      entries: Array.from({ length: count }, (_, index) => ({ content: `do ${index}`, status: 'pending' })),
    },
  ],
  'plan-text': () => [{ sessionUpdate: 'plan', entries: [{ content: 'x'.repeat(count), status: 'pending' }] }],
  'plans': () => {
    return range(count, (index) => ({
      sessionUpdate: 'plan', entries: Array.from({ length: 50 }, () => ({ content: `do ${index}`, status: 'pending' })),
    }))
  },
  'diff': () => [
    {
      sessionUpdate: 'tool_call', toolCallId: 'c1', title: 't', kind: 'edit', status: 'in_progress',
      content: [{ type: 'diff', path: '/a', oldText: 'a\n'.repeat(count / 4), newText: 'b\n'.repeat(count / 4) }],
    },
  ],
  'noise': () => range(count, () => '}'),
  'commands': () => [
    {
      sessionUpdate: 'available_commands_update',
      availableCommands: Array.from({ length: count }, (_, index) => ({ name: `c${index}` })),
    },
  ],
}

function updates(): Iterable<object | string> {
  return attacks[attack]?.() ?? []
}

function repeated(piece: string, times: number): string {
  return `${`${piece},`.repeat(Math.max(0, Math.floor(times) - 1))}${piece}`
}

function repeatedBy(piece: (index: number) => string, times: number): string {
  return Array.from({ length: times }, (_, index) => piece(index)).join(',')
}

function* range(times: number, update: (index: number) => object | string): Generator<object | string> {
  for (let index = 0; index < times; index++) yield update(index)
}

for await (const line of createInterface({ input: process.stdin })) {
  const request: unknown = JSON.parse(line)
  if (isObject(request) && request['id'] !== undefined && typeof request['method'] === 'string') {
    await answer(request['id'], request['method'])
  }
}
