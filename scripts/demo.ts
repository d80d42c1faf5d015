/**
 * `npm run demo`: the main job, end to end, in about a minute and without any account or network.
 *
 * Starts the built server on a free port with a data folder of its own, creates a conversation that is driven by the
 * demonstration agent (a real subprocess that speaks ACP), prints its events as they come over a WebSocket, reads one
 * of them back over REST, has the built-in agent work with the scripted model `demo/scripted`, changes the agent
 * settings, stops the server and sums up. Exit code 0 if every step held.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { randomBytes } from 'node:crypto'
import { connect } from '../test/support/ws-client.ts'
import { commandLine } from './command-line.ts'
import { api, describeEvent, isRecord, type Api } from './demo/client.ts'

commandLine({
  command: 'npm run demo',
  help: 'Shows the main job end to end, without an account or a network, in about a minute.',
})
const folder = mkdtempSync(join(tmpdir(), 'agent-server-demo-'))
const key = randomBytes(16).toString('hex')
const steps: [string, string][] = []
let server: ChildProcess | undefined

// A demo that is ended, or that nobody reads any more, leaves no server either.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void end())

try {
  await demo()
  say('')
  say('Summary')
  for (const [what, result] of steps) say(`  ${what.padEnd(38)} ${result}`)
  say('')
  say('That was the whole main job. Next: npm start, then README.md has the same with curl.')
} catch (error) {
  say(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await cleanUp()
}

async function end(): Promise<void> {
  await cleanUp()
  process.exit(1)
}

async function cleanUp(): Promise<void> {
  await stopServer()
  rmSync(folder, { recursive: true, force: true })
}

async function demo(): Promise<void> {
  const url = await startServer()
  const call = api(url, key)
  await converseWith('an external agent', { confirmation_policy: { kind: 'AlwaysConfirm' } }, call, url)
  const tools = ['terminal', 'file_editor', 'task_tracker'].map((name) => ({ name }))
  await converseWith(
    'the built-in agent', { agent: { kind: 'Agent', llm: { model: 'demo/scripted' }, tools } }, call, url,
  )
  await changeSettings(call)
  const files = readdirSync(join(folder, 'project')).filter((name) => !name.startsWith('.'))
  steps.push(['files the agent left', files.join(', ') || 'none'])
}

/** A conversation from its creation to the end of its first run. */
async function converseWith(who: string, request: Record<string, unknown>, call: Api, url: string): Promise<void> {
  const conversation = await call('POST', '/api/conversations', {
    workspace: { working_dir: join(folder, 'project') }, ...request,
  })
  const id = text(conversation, 'id')
  steps.push([`conversation with ${who}`, id])
  say(`\nConversation ${id} with ${who}: its events, as they come over the WebSocket\n`)
  const events = await converse(call, url, id)
  steps.push(['events over the WebSocket', `${events.length}, the last status was "finished"`])
  await readOneBack(call, id, events)
}

/** Opens the stream, sends one message through it and returns all events until the run has ended. */
async function converse(call: Api, url: string, id: string): Promise<Record<string, unknown>[]> {
  const socket = await connect(`${url.replace('http', 'ws')}/sockets/events/${id}`, { 'X-Session-API-Key': key })
  const events: Record<string, unknown>[] = []
  socket.send(JSON.stringify({ role: 'user', content: [{ type: 'text', text: 'Show me what you can do.' }] }))
  for (;;) {
    const frame: unknown = JSON.parse(await socket.next())
    if (!isRecord(frame)) throw new Error('A frame is not a JSON object')
    const line = describeEvent(frame)
    if (line !== undefined) say(`  ${line}`)
    if (!text(frame, 'id').endsWith(id.slice(19))) events.push(frame)
    if (frame['key'] !== 'execution_status') continue
    if (frame['value'] === 'waiting_for_confirmation') await allow(call, id)
    if (frame['value'] === 'finished') break
    if (frame['value'] === 'error') throw new Error('The run ended with an error')
  }
  socket.close()
  return events
}

async function allow(call: Api, id: string): Promise<void> {
  say('  (the demo answers: yes)')
  await call('POST', `/api/conversations/${id}/events/respond_to_confirmation`, { accept: true })
}

async function readOneBack(call: Api, id: string, events: Record<string, unknown>[]): Promise<void> {
  const action = events.find((event) => event['kind'] === 'ActionEvent')
  if (action === undefined) throw new Error('The agent took no action')
  const read = await call('GET', `/api/conversations/${id}/events/${text(action, 'id')}`)
  if (JSON.stringify(read) !== JSON.stringify(action)) throw new Error('REST and WebSocket disagree about one event')
  steps.push(['the same event over REST', `${text(action, 'kind')} ${text(action, 'id')}`])
}

async function changeSettings(call: Api): Promise<void> {
  const settings = await call('PATCH', '/api/settings', {
    agent_settings_diff: { agent_kind: 'acp', acp_server: 'claude-code' },
  })
  const agent = settings['agent_settings']
  if (!isRecord(agent)) throw new Error('PATCH /api/settings gave no agent settings')
  const command = Array.isArray(agent['acp_command']) && agent['acp_command'].length > 0
    ? agent['acp_command'].join(' ')
    : 'preset'
  steps.push([
    'settings changed with PATCH',
    `${text(agent, 'acp_server')}, model ${text(agent, 'acp_model')}, command: ${command}`,
  ])
}

/** Starts the server and resolves with its address, which is in the one line that it prints when it is ready. */
async function startServer(): Promise<string> {
  // Built or not, as this file is.
  const program = import.meta.url.endsWith('.ts') ? '../src/cli/main.ts' : '../agent-server.js'
  const main = fileURLToPath(new URL(program, import.meta.url))
  const args = [
    main, 'serve', '--port', '0', '--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace'),
  ]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, AGENT_SERVER_SESSION_API_KEY: key, AGENT_SERVER_LOG_LEVEL: 'warn' },
  })
  server = child
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Agent Server listening on (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) {
      say(line)
      steps.push(['server', url])
      return url
    }
  }
  throw new Error('The server ended before it was ready')
}

async function stopServer(): Promise<void> {
  const child = server
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

function text(object: Record<string, unknown>, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw new Error(`Expected a string in "${name}", got ${JSON.stringify(value)}`)
  return value
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
