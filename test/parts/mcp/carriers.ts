/**
 * Everything that carries an MCP session to the fixture server, so that one suite can run over all of them.
 */
import { randomUUID } from 'node:crypto'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openClient, type McpClient } from '../../../src/parts/mcp/client.ts'
import { HttpTransport } from '../../../src/parts/mcp/http-transport.ts'
import { SseTransport } from '../../../src/parts/mcp/sse-transport.ts'
import { startStdioTransport } from '../../../src/parts/mcp/stdio-transport.ts'
import type { Transport } from '../../../src/parts/mcp/transport.ts'
import { startChild } from '../../../src/process/child.ts'
import { startMcpHttp, type McpHttpOptions, type McpHttpServer } from '../../fixtures/mcp-http.ts'
import type { Mode } from '../../fixtures/mcp-session.ts'
import { until } from '../../support/processes.ts'

export interface Carrier {
  readonly transport: Transport
  /** Resolves when the server can say something by itself. */
  listening(): Promise<void>
  /** Ends the servers that the test has started beside the transport. */
  close(): Promise<void>
}

export type OpenCarrier = (mode: Mode) => Promise<Carrier>

export const stdioProgram = fileURLToPath(
  new URL(`../../fixtures/mcp-stdio${extname(import.meta.url)}`, import.meta.url),
)

export const carriers: Readonly<Record<string, OpenCarrier>> = {
  stdio: async (mode) => ({
    transport: await startStdio(mode), listening: async () => undefined, close: async () => undefined,
  }),
  'HTTP answered by JSON': (mode) => overHttp({ mode, answers: 'json' }),
  'HTTP answered by streams': (mode) => overHttp({ mode, answers: 'stream' }),
  'HTTP without sessions': (mode) => overHttp({ mode, answers: 'stream', withoutSessions: true }),
  SSE: async (mode) => {
    const server = await startMcpHttp({ mode })
    const transport = new SseTransport({ url: server.sseUrl, headers: {}, silenceMs: 60_000 })
    return { transport, listening: async () => undefined, close: () => server.close() }
  },
}

export function startStdio(word: string, env: Readonly<Record<string, string>> = {}): Promise<Transport> {
  const program = {
    command: process.execPath, args: [stdioProgram, word], cwd: '/', env, marker: `test/${randomUUID()}`,
  }
  return startStdioTransport({ start: startChild, program, mask: (text) => text.replaceAll('the-secret', '<hidden>') })
}

/** A transport to a server over HTTP, and the server. */
export async function overHttp(
  options: McpHttpOptions, headers: Record<string, string> = {},
): Promise<Carrier & { readonly server: McpHttpServer }> {
  const server = await startMcpHttp(options)
  const transport = new HttpTransport({ url: server.url, headers, silenceMs: 60_000, retryMs: 10 })
  const listening = (): Promise<void> => until(() => server.seen.some(({ method }) => method === 'GET'))
  return { server, transport, listening, close: () => server.close() }
}

export interface Opened {
  readonly client: McpClient
  /** How often other tools were announced. */
  readonly changes: () => number
  readonly noise: readonly string[]
}

/** Opens a session, gives it to the body, and closes it. */
export async function withClient(transport: Transport, body: (opened: Opened) => Promise<void>): Promise<void> {
  const noise: string[] = []
  let changes = 0
  const onNoise = (excerpt: string): void => void noise.push(excerpt)
  const client = await openClient(
    { transport, version: '1', onToolsChanged: () => void changes++, onNoise }, new AbortController().signal,
  )
  try {
    await body({ client, changes: () => changes, noise })
  } finally {
    await client.close()
  }
}
