/**
 * The built server as a process of its own, with a heartbeat in it, which shows the effect of work outside on it.
 *
 * Its folders are temporary ones that go with it. Memory is resident memory as Linux counts it: the peak during the
 * work, less the memory before.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { rest, type Rest } from '../../test/support/rest.ts'
import { member } from '../../test/support/rest.ts'
import { connect, type Client } from '../../test/support/ws-client.ts'

const key = 'a-key-that-only-the-stalls-use'
const program = fileURLToPath(new URL('../../agent-server.js', import.meta.url))
const heartbeat = new URL('heartbeat.js', import.meta.url).href
/** Work that follows an answer, such as writes and collections, counts too. */
const settleMs = 150

export interface Measured {
  /** The outcome of the work, in a few words. */
  readonly answer: string
  /** The longest time between two beats of the heartbeat. */
  readonly stallMs: number
  /** How much of it the main thread had a processor. */
  readonly busyMs: number
  readonly memoryMiB: number
}

export interface StalledServer {
  readonly rest: Rest
  readonly folder: string
  readonly workspaceDir: string
  socket(conversationId: string, headers?: Readonly<Record<string, string>>): Promise<Client>
  measure(work: () => Promise<string>): Promise<Measured>
  close(): Promise<void>
}

export async function startStalledServer(args: readonly string[] = []): Promise<StalledServer> {
  const folder = mkdtempSync(join(tmpdir(), 'stalls-'))
  const workspaceDir = join(folder, 'workspace')
  const where = ['--port', '0', '--data-dir', join(folder, 'data'), '--workspace-dir', workspaceDir]
  const child = fork(program, ['serve', ...where, '--session-api-key', key, '--log-level', 'error', ...args], {
    execArgv: ['--import', heartbeat],
    env: { PATH: process.env['PATH'], HOME: folder },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await readyUrl(child)
  return {
    rest: rest(url, key),
    folder,
    workspaceDir,
    socket: (id, headers = {}) => connect(`${url}/sockets/events/${id}`, { 'X-Session-API-Key': key, ...headers }),
    measure: (work) => measure(child, work),
    async close() {
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function measure(child: ChildProcess, work: () => Promise<string>): Promise<Measured> {
  // The peak begins anew (proc(5), clear_refs).
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
  const before = statusMiB(child, 'VmRSS')
  await ask(child, 'begin')
  const answer = await work().catch((error: unknown) => `failed: ${String(error).slice(0, 60)}`)
  await sleep(settleMs)
  const { stallMs, busyMs } = await ask(child, 'end')
  return { answer, stallMs, busyMs, memoryMiB: Math.max(0, statusMiB(child, 'VmHWM') - before) }
}

async function ask(
  child: ChildProcess, question: string,
): Promise<{ readonly stallMs: number; readonly busyMs: number }> {
  if (child.exitCode !== null || child.signalCode !== null) return { stallMs: Infinity, busyMs: Infinity }
  const answered = Promise.race([once(child, 'message'), once(child, 'exit')])
  child.send(question)
  const [told] = await answered
  return { stallMs: Number(member(told, 'stallMs') ?? Infinity), busyMs: Number(member(told, 'busyMs') ?? Infinity) }
}

function statusMiB({ pid }: ChildProcess, name: string): number {
  try {
    const line = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return Number(line?.[1] ?? Infinity) / 1024
  } catch {
    // It is gone.
    return Infinity
  }
}

async function readyUrl(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk)
    const url = /^Agent Server listening on (http:\S+)/m.exec(text)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('The server ended before it was ready')
}
