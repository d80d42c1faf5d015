/** From the settings of an MCP server to how it is reached. */
import * as assert from 'uvu/assert'
import { callSilenceMs, planServer, secretsNamedBy } from '../../../src/parts/mcp/server-plan.ts'
import { transportOf } from '../../../src/settings/mcp-servers.ts'
import { AppError } from '../../../src/base/errors.ts'
import { toMcpServer, type McpServerInput } from '../../../src/schema/generated/settings.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/mcp/server-plan')
const secrets = new Map([['TOKEN', 'value-of-token'], ['B', '${TOKEN}']])

function headersOf(server: McpServerInput): unknown {
  const plan = planServer(toMcpServer({ url: 'https://a.example/mcp', ...server }), secrets)
  return plan.type === 'stdio' ? undefined : plan.headers
}

const types: readonly (readonly [server: McpServerInput, type: string])[] = [
  [{ command: 'x' }, 'stdio'],
  [{ command: 'x', transport: 'stdio' }, 'stdio'],
  [{ url: 'https://a.example' }, 'http'],
  [{ url: 'https://a.example', transport: 'http' }, 'http'],
  [{ url: 'https://a.example', transport: 'streamable-http' }, 'http'],
  [{ url: 'https://a.example', transport: 'sse' }, 'sse'],
]
for (const [server, type] of types) {
  test(`reaches ${JSON.stringify(server)} over ${type}`, () => {
    assert.is(transportOf(toMcpServer(server)), type)
    assert.is(planServer(toMcpServer(server), secrets).type, type)
  })
}

test('starts a program as the settings say', () => {
  const server = toMcpServer({
    command: 'npx', args: ['-y', 'a'], env: { A: 'x${TOKEN}y${TOKEN}', B: '${B} ${NO} $TOKEN' }, cwd: '/w',
  })
  const plan = {
    type: 'stdio', command: 'npx', args: ['-y', 'a'],
    env: { A: 'xvalue-of-tokenyvalue-of-token', B: '${TOKEN} ${NO} $TOKEN' }, cwd: '/w',
  }
  assert.equal(planServer(server, secrets), plan)
})

const credentials: readonly (readonly [name: string, server: McpServerInput, headers: object])[] = [
  ['headers', { headers: { 'X-A': '${TOKEN}' } }, { 'X-A': 'value-of-token' }],
  ['no credentials', { auth: { strategy: 'none' } }, {}],
  ['a key', { auth: { strategy: 'api_key', value: 'k' } }, { 'X-API-Key': 'k' }],
  ['a key in a header of its own', { auth: { strategy: 'api_key', value: '${TOKEN}', header_name: 'X-K' } },
    { 'X-K': 'value-of-token' }],
  ['a token', { auth: { strategy: 'bearer', value: '${TOKEN}' } }, { Authorization: 'Bearer value-of-token' }],
  ['a name and a password', { auth: { strategy: 'basic', username: 'u', password: '${TOKEN}' } },
    { Authorization: 'Basic dTp2YWx1ZS1vZi10b2tlbg==' }],
  ['headers as credentials', { auth: { strategy: 'header', headers: { 'X-B': '${TOKEN}' } } },
    { 'X-B': 'value-of-token' }],
]
for (const [name, server, headers] of credentials) test(`sends ${name}`, () => assert.equal(headersOf(server), headers))

test('refuses a server without an address or a command', () => {
  const refused: readonly (readonly [McpServerInput, string])[] = [
    [{ transport: 'stdio' }, 'expected a command'],
    [{ url: ' ' }, 'expected an address'],
  ]
  for (const [server, expected] of refused) {
    assert.throws(() => planServer(toMcpServer(server), secrets), (error: unknown) => {
      return error instanceof AppError && error.message.includes(expected)
    })
  }
})

test('a login is no header of the plan: its token may be another one with each request', () => {
  const auth = {
    strategy: 'oauth2',
    authentication: { type: 'oauth', client_secret: '${TOKEN}' },
    state: { tokens: { access_token: 't' } },
  } as const
  const plan = planServer(toMcpServer({ url: 'https://a.example', headers: { 'X-A': 'a' }, auth }), secrets)
  const filled = { ...auth, authentication: { type: 'oauth', client_secret: 'value-of-token' } }
  assert.equal(plan, {
    type: 'http', url: 'https://a.example', headers: { 'X-A': 'a' }, oauth: filled, silenceMs: 300_000,
  })
})

test('keeps times within reason', () => {
  assert.equal(
    [undefined, 0, -1, 0.5, 9e9].map((timeout) => callSilenceMs(toMcpServer({ command: 'x', timeout }))),
    [120_000, 120_000, 120_000, 500, 3_600_000],
  )
  const plan = planServer(toMcpServer({ url: 'https://a.example', sse_read_timeout: 2 }), secrets)
  assert.is(plan.type === 'stdio' ? 0 : plan.silenceMs, 2000)
})

test('knows which secrets the settings refer to', () => {
  const server = toMcpServer({
    command: 'x', env: { A: '${ONE} ${TWO}' }, headers: { B: '${THREE}' },
    auth: { strategy: 'bearer', value: '${FOUR}' }, args: ['${FIVE}'],
  })
  assert.equal([...secretsNamedBy(server)].sort(), ['FOUR', 'ONE', 'THREE', 'TWO'])
  assert.is(secretsNamedBy(toMcpServer({ command: 'x' })).size, 0)
})

test.run()
