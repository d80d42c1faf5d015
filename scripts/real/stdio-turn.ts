/**
 * Leads a real ACP agent through one turn over its standard streams, without the server, and keeps every message.
 *
 * It sends the requests that a turn takes and allows every permission once. It is no client to build on: no
 * limits, no cancellation.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isObject } from '../../src/base/json.ts'
import { within } from '../../src/base/wait.ts'

export interface StdioTurnOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly workspace: string
  readonly environment: Readonly<Record<string, string>>
  /** The session mode to set where the session has modes, null for the agent's own. */
  readonly mode: string | null
  readonly prompt: string
  /** As `session/new` takes them. Default: none. */
  readonly mcpServers?: readonly object[]
  readonly timeoutMs: number
}

export interface StdioMessage {
  /** Milliseconds since the start. */
  readonly t: number
  /** `<` from the agent, `>` to it. */
  readonly dir: '<' | '>'
  readonly msg: Readonly<Record<string, unknown>>
}

export interface StdioTurn {
  readonly messages: readonly StdioMessage[]
  /** `result` of the prompt, or its `error`. */
  readonly answer: unknown
  readonly stderr: string
}

export async function runStdioTurn(options: StdioTurnOptions): Promise<StdioTurn> {
  const { program, args, workspace, environment, timeoutMs } = options
  const child = spawn(program, args, { cwd: workspace, env: environment, detached: true })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const peer = createPeer(child)
  try {
    const answer = await within(Promise.race([takeTurn(peer.request, options), ended(child)]), timeoutMs)
    // The messages that follow the agent's answer (a title, usage) belong to the turn.
    await within(exited, 500)
    return { messages: peer.messages, answer, stderr }
  } finally {
    await stop(child, exited)
  }
}

type Request = (method: string, params: object) => Promise<unknown>

async function takeTurn(
  request: Request, { workspace: cwd, mode, prompt, mcpServers = [] }: StdioTurnOptions,
): Promise<unknown> {
  await request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'agent-server', title: 'Agent Server', version: '0.1.0' },
  })
  const session = await request('session/new', { cwd, mcpServers })
  const sessionId = isObject(session) ? session['sessionId'] : undefined
  const hasModes = isObject(session) && session['modes'] !== undefined
  if (mode !== null && hasModes) await request('session/set_mode', { sessionId, modeId: mode })
  return request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] })
}

function createPeer(child: ChildProcessWithoutNullStreams): { request: Request; messages: StdioMessage[] } {
  const messages: StdioMessage[] = []
  const pending = new Map<unknown, (answer: unknown) => void>()
  const start = Date.now()
  const send = (body: object): void => {
    const message = { jsonrpc: '2.0', ...body }
    messages.push({ t: Date.now() - start, dir: '>', msg: message })
    child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message: unknown = JSON.parse(line)
    if (!isObject(message)) return
    messages.push({ t: Date.now() - start, dir: '<', msg: message })
    if (message['method'] === undefined) pending.get(message['id'])?.(message['result'] ?? message['error'])
    else if (message['id'] !== undefined) send({ id: message['id'], result: allowOnce(message['params']) })
  })
  const request: Request = (method, params) => {
    const id = pending.size
    const answer = new Promise<unknown>((resolve) => pending.set(id, resolve))
    send({ id, method, params })
    return answer
  }
  return { request, messages }
}

/** The answer to `session/request_permission`, the only request that a client without capabilities gets. */
function allowOnce(params: unknown): object {
  const options = isObject(params) && Array.isArray(params['options']) ? params['options'].filter(isObject) : []
  const option = options.find(({ kind }) => kind === 'allow_once')
  return { outcome: option ? { outcome: 'selected', optionId: option['optionId'] } : { outcome: 'cancelled' } }
}

function ended(child: ChildProcessWithoutNullStreams): Promise<never> {
  return new Promise((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`The agent ended with ${code ?? signal}`)))
  })
}

/** Ends the agent and its group: by itself at the end of its input, else by a signal. */
async function stop(child: ChildProcessWithoutNullStreams, exited: Promise<void>): Promise<void> {
  if (child.pid === undefined) return
  child.stdin.end()
  if ((await within(exited, 5000)) !== 'late') return
  process.kill(-child.pid, 'SIGKILL')
  await exited
}
