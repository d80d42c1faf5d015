/**
 * `npm run check:trace`: runs the built server twice under strace, and compares every file, program and address with
 * the table "What a running server touches" of SECURITY.md (`src/parts/selftest/touches.ts`).
 *
 * Both servers hold two conversations: with the demonstration agent, and with the built-in agent, a scripted model, a
 * terminal and a file editor. The first server has only the rows of default options. The second has XDG_RUNTIME_DIR, a
 * working folder that requests name, skills of the user, a hook, a client's command and a git request. Looking at a
 * folder above a named file is not reported: links are resolved, and the server opens the folders on the way to a
 * workspace one after the other.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findTouch, namesOf, touchesIn, type Places } from '../src/parts/selftest/touches.ts'
import { commandLine } from './command-line.ts'
import { api, type Api } from './demo/client.ts'
import { readTrace, type Traced } from './trace/read-trace.ts'

commandLine({
  command: 'npm run check:trace',
  help: 'Compares every file, program and address of a server with the table of SECURITY.md. Needs strace.',
})
const program = fileURLToPath(new URL('../', import.meta.url)).replace(/\/$/, '')
const folder = mkdtempSync(join(tmpdir(), 'trace-'))
// In memory, as the folder of a login session is.
const runtime = mkdtempSync('/dev/shm/trace-')
const key = 'key-of-a-server-that-ends-at-once'
const path = (process.env['PATH'] ?? '').split(':').filter((name) => name.startsWith('/'))

try {
  process.exitCode = 0
  const plain = placesIn(join(folder, 'plain'))
  report('default options', await traceOf(plain, async (call) => converse(call, join(plain.work, 'project'))), plain)
  const workingDir = join(folder, 'elsewhere')
  const asked = { ...placesIn(join(folder, 'asked')), runtime, workingDir }
  report('with requests and options', await traceOf(asked, async (call) => askFor(call, workingDir)), asked)
} finally {
  for (const name of [folder, runtime]) rmSync(name, { recursive: true, force: true })
}

/** Makes the folders of a server. */
function placesIn(parent: string): Places {
  const places = { data: join(parent, 'data'), work: join(parent, 'work'), home: join(parent, 'home'), program, path }
  for (const name of [places.work, places.home]) mkdirSync(name, { recursive: true })
  return places
}

/** Runs a server under strace from its start to its end. @throws Error when strace or the server fails */
async function traceOf(places: Places, work: (call: Api) => Promise<void>): Promise<string> {
  const { data, work: workspaces, home, runtime: XDG_RUNTIME_DIR } = places
  const trace = `${data}.trace`
  const flags = ['-f', '-y', '-qq', '-s', '4096', '-e', 'trace=%file,%network,%process', '-o', trace]
  const words = ['serve', '--port', '0', '--data-dir', data, '--workspace-dir', workspaces, '--log-level', 'warn']
  const child = spawn('strace', [...flags, process.execPath, join(program, 'agent-server.js'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'], cwd: workspaces,
    env: { PATH: process.env['PATH'], HOME: home, AGENT_SERVER_SESSION_API_KEY: key, XDG_RUNTIME_DIR },
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new Error('Cannot start strace: install it (apt-get install strace)')))
    child.once('exit', resolve)
  })
  const url = await Promise.race([addressOf(child.stdout), ended.then(() => undefined)])
  if (url === undefined) throw new Error('The server ended before it was ready: may strace trace here?')
  try {
    const call = api(url, key)
    await call('GET', '/openapi.json')
    await work(call)
  } finally {
    process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGTERM')
  }
  if (await ended !== 0) throw new Error('The server did not end well')
  return readFileSync(trace, 'utf8')
}

/** Asks for everything that a request of a client can have the server touch without a network and without an agent. */
async function askFor(call: Api, workingDir: string): Promise<void> {
  const command = 'echo hello'
  await converse(call, workingDir, {
    agent_context: { load_user_skills: true, load_project_skills: true },
  }, { hook_config: { user_prompt_submit: [{ matcher: '*', hooks: [{ command }] }] } })
  await call('POST', '/api/bash/execute_bash_command', { command })
  await call('GET', `/api/git/commits?path=${encodeURIComponent(workingDir)}`)
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: output })) {
    const url = /^Agent Server listening on (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  return undefined
}

/** Two conversations, one of each kind of agent, from their creation to the end of their runs. */
async function converse(call: Api, workingDir: string, agent: object = {}, request: object = {}): Promise<void> {
  const workspace = { working_dir: workingDir }
  const tools = ['terminal', 'file_editor'].map((name) => ({ name }))
  await finish(call, { workspace })
  const llm = { model: 'demo/scripted' }
  await finish(call, { workspace, ...request, agent: { kind: 'Agent', llm, tools, ...agent } })
}

async function finish(call: Api, request: object): Promise<void> {
  const { id } = await call('POST', '/api/conversations', request)
  const content = [{ type: 'text', text: 'run: echo hello > hello.txt && cat hello.txt' }]
  await call('POST', `/api/conversations/${String(id)}/events`, { content, run: true })
  for (;;) {
    const { execution_status: status } = await call('GET', `/api/conversations/${String(id)}`)
    if (status === 'finished') return
    if (status === 'error' || status === 'stuck') throw new Error(`A run ended with the status ${String(status)}`)
    await sleep(100)
  }
}

function report(title: string, text: string, places: Places): void {
  const traced = readTrace(text)
  const lines = text.split('\n')
  const strangers = traced.filter((one) => !isNamed(one, places))
  for (const { kind, name, line } of strangers) {
    process.stdout.write(`not named: ${kind} ${name}\n  ${lines[line - 1]?.slice(0, 160)}\n`)
  }
  const counts = ['read', 'look', 'change', 'program', 'address'].map((kind) => {
    return `${traced.filter((one) => one.kind === kind).length} ${kind}`
  })
  process.stdout.write(`${title}: ${counts.join(', ')}; ${strangers.length} that SECURITY.md does not name\n`)
  const programs = traced.filter(({ kind }) => kind === 'program').map(({ name }) => name)
  process.stdout.write(`programs: ${programs.join(', ')}\n`)
  if (strangers.length > 0 || traced.length === 0) process.exitCode = 1
}

function isNamed({ kind, name }: Traced, places: Places): boolean {
  switch (kind) {
    case 'program': return findTouch(['program'], name, places) !== undefined
    case 'address': return name === '127.0.0.1'
    case 'change': return findTouch(['change'], name, places) !== undefined
    case 'read': return findTouch(['read', 'change'], name, places) !== undefined
    case 'look': return findTouch(['read', 'change'], name, places) !== undefined || isAbove(name, places)
  }
}

/** True for a folder above a named file. */
function isAbove(path: string, places: Places): boolean {
  const above = path === '/' ? '/' : `${path}/`
  return touchesIn(places).some(({ name }) => namesOf(name, places).some((full) => full.startsWith(above)))
}
