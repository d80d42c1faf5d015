/**
 * `npm run check:trace`: starts the built server under strace, holds two conversations, and compares every file,
 * program and address with the table "What a running server touches" of SECURITY.md (`src/parts/selftest/touches.ts`).
 *
 * One conversation has the demonstration agent, the other the built-in agent with a scripted model, a terminal and a
 * file editor. Looking at a folder above a named file is not reported: links are resolved, and the server opens the
 * folders on the way to a workspace one after the other.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findTouch, namesOf, touches, type Places } from '../src/parts/selftest/touches.ts'
import { commandLine } from './command-line.ts'
import { api, type Api } from './demo/client.ts'
import { readTrace, type Traced } from './trace/read-trace.ts'

commandLine({
  command: 'npm run check:trace',
  help: 'Compares every file, program and address of a server with the table of SECURITY.md. Needs strace.',
})
const program = fileURLToPath(new URL('../', import.meta.url)).replace(/\/$/, '')
const folder = mkdtempSync(join(tmpdir(), 'trace-'))
const trace = join(folder, 'trace.txt')
const key = 'key-of-a-server-that-ends-at-once'
const places: Places = {
  data: join(folder, 'data'), work: join(folder, 'work'), home: join(folder, 'home'), program,
  path: (process.env['PATH'] ?? '').split(':').filter((name) => name.startsWith('/')),
}

try {
  for (const name of [places.work, places.home]) mkdirSync(name)
  await runServer()
  report(readFileSync(trace, 'utf8'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Runs a server under strace from its start to its end. @throws Error when strace or the server fails */
async function runServer(): Promise<void> {
  const flags = ['-f', '-y', '-qq', '-s', '4096', '-e', 'trace=%file,%network,%process', '-o', trace]
  const words = [
    'serve', '--port', '0', '--data-dir', places.data, '--workspace-dir', places.work, '--log-level', 'warn',
  ]
  const child = spawn('strace', [...flags, process.execPath, join(program, 'agent-server.js'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'], cwd: places.work,
    env: { PATH: process.env['PATH'], HOME: places.home, AGENT_SERVER_SESSION_API_KEY: key },
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', () => reject(new Error('Cannot start strace: install it (apt-get install strace)')))
    child.once('exit', resolve)
  })
  const url = await Promise.race([addressOf(child.stdout), ended.then(() => undefined)])
  if (url === undefined) throw new Error('The server ended before it was ready: may strace trace here?')
  const call = api(url, key)
  await call('GET', '/openapi.json')
  await converse(call, {})
  const tools = ['terminal', 'file_editor'].map((name) => ({ name }))
  await converse(call, { agent: { kind: 'Agent', llm: { model: 'demo/scripted' }, tools } })
  process.kill(Number.parseInt(readFileSync(trace, 'utf8'), 10), 'SIGTERM')
  if (await ended !== 0) throw new Error('The server did not end well')
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: output })) {
    const url = /^Agent Server listening on (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  return undefined
}

/** A conversation from its creation to the end of its run. */
async function converse(call: Api, request: Record<string, unknown>): Promise<void> {
  const workspace = { working_dir: join(places.work, 'project') }
  const { id } = await call('POST', '/api/conversations', { workspace, ...request })
  const content = [{ type: 'text', text: 'run: echo hello > hello.txt && cat hello.txt' }]
  await call('POST', `/api/conversations/${String(id)}/events`, { content, run: true })
  for (;;) {
    const { execution_status: status } = await call('GET', `/api/conversations/${String(id)}`)
    if (status === 'finished') return
    if (status === 'error' || status === 'stuck') throw new Error(`A run ended with the status ${String(status)}`)
    await sleep(100)
  }
}

function report(text: string): void {
  const traced = readTrace(text)
  const lines = text.split('\n')
  const strangers = traced.filter((one) => !isNamed(one))
  for (const { kind, name, line } of strangers) {
    process.stdout.write(`not named: ${kind} ${name}\n  ${lines[line - 1]?.slice(0, 160)}\n`)
  }
  const counts = ['read', 'look', 'change', 'program', 'address'].map((kind) => {
    return `${traced.filter((one) => one.kind === kind).length} ${kind}`
  })
  process.stdout.write(`${counts.join(', ')}; ${strangers.length} that SECURITY.md does not name\n`)
  const programs = traced.filter(({ kind }) => kind === 'program').map(({ name }) => name)
  process.stdout.write(`programs: ${programs.join(', ')}\n`)
  process.exitCode = strangers.length === 0 && traced.length > 0 ? 0 : 1
}

function isNamed({ kind, name }: Traced): boolean {
  switch (kind) {
    case 'program': return findTouch(['program'], name, places) !== undefined
    case 'address': return name === '127.0.0.1'
    case 'change': return findTouch(['change'], name, places) !== undefined
    case 'read': return findTouch(['read', 'change'], name, places) !== undefined
    case 'look': return findTouch(['read', 'change'], name, places) !== undefined || isAbove(name)
  }
}

/** True for a folder above a named file. */
function isAbove(path: string): boolean {
  const above = path === '/' ? '/' : `${path}/`
  return touches.some(({ name }) => namesOf(name, places).some((full) => full.startsWith(above)))
}
