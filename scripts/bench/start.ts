/**
 * Measures the time from the start of the program to its first answer, and its memory then, beside the shortest server
 * of node:http.
 *
 * Ours is the built program, as `npm start` runs it, on a data folder that it has used before. Times begin before the
 * process is made; processor time and resident memory of all threads are read from /proc when the process has rested
 * for a moment after its answer.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serverProgram } from '../real/built-server.ts'
import type { Gate, Row } from './gate.ts'
import { compare, spreadOf, type Cost } from './rounds.ts'
import { peerRow } from './users/row.ts'

const restMs = 300
const limit = 'bare node:http'
export const bareProgram = fileURLToPath(new URL('bare-start.js', import.meta.url))

export const start: Gate = async ({ budgetMs }) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'))
  try {
    const places = ['--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]
    return await compareStarts('', [serverProgram, '--port', '0', ...places], budgetMs)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * `program` is a file and its arguments; it prints its address as the only URL. A peer has the rows too that users
 * notice, which users/start measures of ours.
 */
export async function compareStarts(peer: string, program: readonly string[], budgetMs: number): Promise<Row[]> {
  const memory: { readonly ours: number[]; readonly limit: number[] } = { ours: [], limit: [] }
  const sideOf = (argv: readonly string[], bytes: number[]) => async (): Promise<Cost> => {
    const { cost, residentBytes } = await startOnce(argv)
    bytes.push(residentBytes)
    return cost
  }
  const sides = { limit: sideOf([bareProgram], memory.limit), ours: sideOf(program, memory.ours) }
  const { elapsed, cpu, ours, oursElapsedMs } = await compare(sides, budgetMs)
  const ratios = memory.ours.map((bytes, index) => bytes / (memory.limit[index] ?? NaN))
  const megabytes = spreadOf(memory.ours.map((bytes) => bytes / 1e6))
  const forUsers = peer === '' ? [] : [
    peerRow({ peer, what: 'start until the first answer', unit: 'ms', figure: oursElapsedMs }),
    peerRow({ peer, what: 'memory after the start', unit: 'MB', figure: megabytes }),
  ]
  return [
    {
      what: 'start to first answer: time', peer, limit, ratio: elapsed, target: { atMost: 1.25 },
      context: `${ours.elapsedMs.toFixed(0)} ms`,
    },
    {
      what: 'start to first answer: CPU', peer, limit, ratio: cpu, target: { atMost: 1.25 },
      context: `${ours.cpuMs.toFixed(0)} ms`,
    },
    {
      what: 'start to first answer: resident memory', peer, limit, ratio: spreadOf(ratios), target: { atMost: 1.2 },
      context: `${megabytes.median.toFixed(0)} MB`,
    },
    ...forUsers,
  ]
}

export async function startOnce(
  argv: readonly string[],
): Promise<{ readonly cost: Cost; readonly residentBytes: number }> {
  const begin = performance.now()
  const child = spawn(process.execPath, argv, {
    env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  try {
    const [line]: Buffer[] = await once(child.stdout, 'data')
    const [url] = /http:\/\/[0-9.:]+/.exec(String(line)) ?? []
    if (url === undefined || child.pid === undefined) throw new Error(`Expected an address, got "${String(line)}"`)
    await (await fetch(`${url}/alive`)).text()
    const elapsedMs = performance.now() - begin
    await pause(restMs)
    return { cost: { elapsedMs, cpuMs: await readCpuMs(child.pid) }, residentBytes: await readResidentBytes(child.pid) }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

/** The first figure of `schedstat` is the nanoseconds that a thread has run (kernel documentation, sched-stats). */
async function readCpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'latin1')))
  return stats.reduce((sum, stat) => sum + Number(stat.split(' ')[0]) / 1e6, 0)
}

async function readResidentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
