/** One MCP session over everything that can carry it: the same promises each time. */
import * as assert from 'uvu/assert'
import { openClient, type McpClient } from '../../../src/parts/mcp/client.ts'
import { AppError } from '../../../src/base/errors.ts'
import { RpcError, RpcProtocolError, RpcTimeoutError } from '../../../src/rpc/errors.ts'
import { toolNames, type Mode } from '../../fixtures/mcp-session.ts'
import { until } from '../../support/processes.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'
import { carriers, withClient, type Opened, type OpenCarrier } from './carriers.ts'

const test = suite('agents/mcp/client')

for (const [name, open] of Object.entries(carriers)) {
  // A test that takes long runs once for programs and once for HTTP.
  const isBrief = name !== 'stdio' && name !== 'HTTP answered by streams'
  const on = (
    title: string, mode: Mode, body: (opened: Opened & { listening(): Promise<void> }) => Promise<void>,
  ): void => {
    test(`${name}: ${title}`, async () => {
      const { transport, listening, close } = await open(mode)
      try {
        await withClient(transport, (opened) => body({ ...opened, listening }))
      } finally {
        await close()
      }
    })
  }

  on('lists the tools and calls one', 'usual', async ({ client }) => {
    const tools = await client.listTools(never())
    assert.equal(tools.map((tool) => tool.name), [...toolNames])
    assert.equal(await call(client, 'echo', { text: 'größer' }), {
      content: [{ type: 'text', text: 'größer' }], isError: false,
    })
  })

  on('says that it is ready before it asks for anything', 'usual', async ({ client }) => {
    assert.is(await text(client, 'heard'), 'initialize notifications/initialized tools/call')
  })

  on('reads a list to its last page', 'pages', async ({ client }) => {
    assert.equal((await client.listTools(never())).map((tool) => tool.name), ['page-0', 'page-1', 'page-2'])
  })

  if (!isBrief) on('gives up a list that has no end', 'endless-pages', async ({ client }) => {
    assert.match(await message(client.listTools(never())), 'on more than 100 pages')
  })

  if (!isBrief) on('refuses a list that is too long for one event', 'fat', async ({ client }) => {
    assert.match(await message(client.listTools(never())), 'more than 1000000 characters')
  })

  on('leaves out what is no tool', 'odd', async ({ client }) => {
    assert.is((await client.listTools(never())).length, 3)
  })

  on('asks a server without tools for none', 'no-tools', async ({ client }) => {
    assert.equal(await client.listTools(never()), [])
  })

  on('speaks with a server that knows an older version only', 'old', async ({ client }) => {
    assert.is(await text(client, 'echo', { text: 'a' }), 'a')
  })

  on('tells a failed tool from a refused call', 'usual', async ({ client }) => {
    assert.is((await call(client, 'fails'))['isError'], true)
    const error = await failure(call(client, 'refuses'))
    assert.ok(error instanceof RpcError && error.code === -32602 && error.message === 'Unknown argument')
  })

  on('takes one of two answers', 'usual', async ({ client }) => {
    // On two streams the second may overtake the first.
    assert.match(await text(client, 'twice'), /^(once|again)$/)
    assert.is(await text(client, 'echo', { text: 'b' }), 'b')
  })

  on('refuses an answer that breaks the protocol', 'usual', async ({ client }) => {
    assert.ok(await failure(call(client, 'nonsense')) instanceof RpcProtocolError)
    assert.is(await text(client, 'echo', { text: 'c' }), 'c')
  })

  on('answers a ping, and offers nothing else', 'usual', async ({ client, listening }) => {
    await listening()
    assert.is(await text(client, 'asks', { method: 'ping' }), '{}')
    assert.match(await text(client, 'asks', { method: 'roots/list' }), '-32601')
  })

  on('hears that there are other tools', 'usual', async ({ client, changes, listening }) => {
    await listening()
    await call(client, 'grows')
    await until(() => changes() === 1)
    assert.is((await client.listTools(never())).at(-1)?.name, 'grown_1')
  })

  on('cancels a call that is given up', 'usual', async ({ client }) => {
    const giveUp = new AbortController()
    const calling = client.callTool({ name: 'hangs', args: {}, signal: giveUp.signal, silenceMs: 60_000 })
    giveUp.abort(new Error('enough'))
    assert.match(String(await failure(calling)), 'enough')
    await until(async () => (await text(client, 'heard')).includes('notifications/cancelled'))
  })

  on('gives up a call that says nothing', 'usual', async ({ client }) => {
    assert.ok(await failure(
      client.callTool({ name: 'hangs', args: {}, signal: never(), silenceMs: 50 }),
    ) instanceof RpcTimeoutError)
  })

  if (!isBrief) on('waits for a call that tells of its progress', 'usual', async ({ client, listening }) => {
    await listening()
    const result = await client.callTool({ name: 'works', args: {}, signal: never(), silenceMs: 600 })
    assert.equal(result['content'], [{ type: 'text', text: 'worked' }])
  })

  on('fails the call in which the server dies', 'usual', async ({ client }) => {
    assert.ok(await client.explain(await failure(call(client, 'dies'))) instanceof AppError)
  })

  if (!isBrief) on('fails a call whose result is too long', 'usual', async ({ client }) => {
    assert.match(String(await client.explain(await failure(call(client, 'too-long')))), /8388608|more than/)
  })

  test(`${name}: ends a session whose version it does not know`, () => {
    return refuses(open, 'wrong-version', 'version "1999-12-31"')
  })
  test(`${name}: ends a session that the server refuses`, () => refuses(open, 'refuses', 'Unsupported client'))

  test(`${name}: leaves nothing of a session that never begins`, async () => {
    const { transport, close } = await open('hangs')
    const stop = new AbortController()
    const opening = openClient({ transport, version: '1', onToolsChanged: ignore, onNoise: ignore }, stop.signal)
    stop.abort(new Error('tired'))
    assert.match(String(await failure(opening)), 'tired')
    await close()
  })
}

async function refuses(open: OpenCarrier, mode: Mode, expected: string): Promise<void> {
  const { transport, close } = await open(mode)
  assert.match(
    await message(openClient({ transport, version: '1', onToolsChanged: ignore, onNoise: ignore }, never())), expected,
  )
  await close()
}

function call(client: McpClient, name: string, args: object = {}): ReturnType<McpClient['callTool']> {
  return client.callTool({ name, args, signal: never(), silenceMs: 60_000 })
}

async function text(client: McpClient, name: string, args: object = {}): Promise<string> {
  const { content } = await call(client, name, args)
  return Array.isArray(content) ? String(content[0].text) : ''
}

async function message(promise: Promise<unknown>): Promise<string> {
  return String(await failure(promise))
}

function never(): AbortSignal {
  return new AbortController().signal
}

function ignore(): void {}

test.run()
