/**
 * The servers that hostile requests are sent to, and the proof that nothing has happened there.
 *
 * Each holds one conversation with a message that waits, whose agent leaves a mark in the workspace when it is started.
 * `state` is everything that a request could have changed: every byte below the data folder and the workspace, the
 * answers of REST, and the log's lines about failures of the server.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exchange } from '../http/raw-client.ts'
import { id, type Entrance } from './hostile-row.ts'
import { startServer, type TestServer } from './server.ts'

export interface Target extends TestServer {
  readonly port: number
  /** True when the agent of the conversation has been started. */
  hasRun(): boolean
  /** Sends the bytes of a row and gives all that came until the server closed the connection. */
  send(bytes: string): Promise<string>
  state(): Promise<readonly string[]>
}

const options = {
  keyed: {},
  open: { sessionApiKeys: [], noAuth: true, allowedOrigins: ['http://localhost:3000'] },
  named: { allowedHosts: ['agent.example'], allowedOrigins: ['https://app.example'] },
  public: { host: '0.0.0.0' },
} as const satisfies Record<Entrance, object>

/**
 * `headersTimeoutMs` is the time after which half a request is given up. It is long enough for a whole request on a
 * busy machine.
 */
export async function startTarget(entrance: Entrance, { headersTimeoutMs = 3000 } = {}): Promise<Target> {
  // A connection that is kept open for a next request is closed soon.
  const server = await startServer({ keepAliveTimeoutMs: 50, headersTimeoutMs, ...options[entrance] })
  const mark = join(server.workspaceDir, 'started')
  const agent = { kind: 'ACPAgent', acp_command: ['/bin/sh', '-c', `echo yes > '${mark}'`] }
  const { status, text } = await server.rest.post('/api/conversations', { conversation_id: id, agent })
  if (status !== 201) throw new Error(`Expected a conversation, got ${text}`)
  const message = { role: 'user', content: [{ type: 'text', text: 'wait' }], run: false }
  await server.rest.post(`/api/conversations/${id}/events`, message)
  const port = Number(new URL(server.url).port)
  return {
    ...server,
    port,
    hasRun: () => existsSync(mark),
    send: (bytes) => exchange(port, Buffer.from(bytes, 'latin1')),
    state: () => stateOf(server),
  }
}

/** Returns the differences between two states, in short. */
export function changesOf(before: readonly string[], after: readonly string[]): string[] {
  const lines = [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))]
  return lines.map((line) => line.slice(0, 300))
}

async function stateOf({ dataDir, workspaceDir, rest, log }: TestServer): Promise<readonly string[]> {
  const paths = [
    `/api/conversations/${id}`, '/api/conversations/search', '/api/settings', '/api/settings/secrets',
    `/api/conversations/${id}/events/search`,
  ]
  const told = await Promise.all(paths.map(async (path) => (await rest.get(path)).text))
  const expected = /No session key is asked for|A session key was refused/
  const failures = log.filter((line) => /"level":"(?:error|warn)"/.test(line) && !expected.test(line))
  return [...told, ...filesIn(dataDir), ...filesIn(workspaceDir), ...failures]
}

/** Every file with the digest of its bytes. */
function filesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return files.sort().map((path) => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
}
