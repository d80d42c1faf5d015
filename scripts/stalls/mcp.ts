/**
 * An MCP server that attacks, on standard input and output: `node mcp.js ATTACK SIZE`. The attack is its list of tools
 * or the result of its one tool.
 */
import { createInterface } from 'node:readline'
import { isObject } from '../../src/base/json.ts'

const [, , attack = '', size = '0'] = process.argv
const count = Number(size)
const tool = { name: 'attack', description: 'Attacks', inputSchema: { type: 'object', properties: {} } }

for await (const line of createInterface({ input: process.stdin })) {
  const request: unknown = JSON.parse(line)
  if (isObject(request) && request['id'] !== undefined) answer(JSON.stringify(request['id']), String(request['method']))
}

function answer(id: string, method: string): void {
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${resultOf(method)}}\n`)
}

function resultOf(method: string): string {
  if (method === 'initialize') {
    return JSON.stringify({
      protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'attacker', version: '1' },
    })
  }
  if (method === 'tools/list') return listed()
  return method === 'tools/call' ? called() : '{}'
}

function listed(): string {
  switch (attack) {
    case 'tools': return JSON.stringify({
      tools: Array.from({ length: count }, (_, index) => ({ ...tool, name: `t${index}` })),
    })
    case 'description': return JSON.stringify({ tools: [{ ...tool, description: 'x'.repeat(count) }] })
    case 'schema': return `{"tools":[{"name":"attack","inputSchema":{"type":"object","properties":{"a":{"enum":[${`"a",`.repeat(count)}"b"]}}}}]}`
    default: return JSON.stringify({ tools: [tool] })
  }
}

function called(): string {
  switch (attack) {
    case 'values': return `{"content":[],"structuredContent":{"a":[${'{},'.repeat(count / 3)}{}]}}`
    case 'blocks': return `{"content":[${'{"type":"text","text":"a"},'.repeat(count)}{"type":"text","text":"b"}]}`
    case 'text': return `{"content":[{"type":"text","text":"${'x'.repeat(count)}"}]}`
    case 'image': return `{"content":[{"type":"image","mimeType":"image/png","data":"${'iVBO'.repeat(count / 4)}"}]}`
    default: return '{"content":[]}'
  }
}
