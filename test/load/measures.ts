/**
 * The cost of a load for a server, seen from outside: its memory and file handles by proc(5), and how long `/health`
 * takes beside a bare node:http server that has nothing to do and is asked in the same moment.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer, request } from 'node:http'

export interface ProcessSize {
  /** Resident, in bytes. */
  readonly memory: number
  readonly handles: number
}

export function sizeOf(pid: number): ProcessSize {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return { memory: Number(pages) * 4096, handles: readdirSync(`/proc/${pid}/fd`).length }
}

/** The value below which this share of the values lies; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export interface Probe {
  /** Milliseconds of each answer so far; one that failed is infinitely late. */
  readonly ours: readonly number[]
  readonly bare: readonly number[]
  stop(): Promise<void>
}

const pauseMs = 10
const limitMs = 10_000

/** Asks both in turns, on a new connection each time, until it is stopped. */
export function startProbe(url: string, bareUrl: string): Probe {
  const [ours, bare]: [number[], number[]] = [[], []]
  let isStopped = false
  const run = async (): Promise<void> => {
    while (!isStopped) {
      ours.push(await timeOf(`${url}/health`))
      bare.push(await timeOf(bareUrl))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  const running = run()
  return {
    ours,
    bare,
    stop() {
      isStopped = true
      return running
    },
  }
}

async function timeOf(url: string): Promise<number> {
  const start = performance.now()
  const isAnswered = await new Promise<boolean>((resolve) => {
    const asked = request(url, { agent: false, timeout: limitMs }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
      response.on('error', () => resolve(false))
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(false))
    asked.end()
  })
  return isAnswered ? performance.now() - start : Number.POSITIVE_INFINITY
}

export interface BareServer {
  readonly url: string
  readonly pid: number | undefined
  stop(): void
}

/** The bare server, in a process of its own. */
export async function startBareServer(): Promise<BareServer> {
  const child = fork(new URL(import.meta.url), ['bare'])
  const [port] = await once(child, 'message')
  return { url: `http://127.0.0.1:${String(port)}`, pid: child.pid, stop: () => endChild(child) }
}

function endChild(child: ChildProcess): void {
  child.kill('SIGKILL')
}

if (process.argv[2] === 'bare') {
  const body = JSON.stringify({ status: 'ok' })
  const server = createServer((_request, response) => response.end(body))
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.send?.(address === null || typeof address === 'string' ? 0 : address.port)
  })
  process.once('disconnect', () => process.exit())
}
