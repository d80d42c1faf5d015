/**
 * The start of the built server on a data folder that it has used before, and its end while agents work.
 *
 * The end is timed from SIGTERM until neither the server nor any process that it has started is alive. Ten agents are
 * programs of Node in the midst of a turn, and the server gives them no time to finish it (`--drain-seconds 0`). The
 * bare program starts the same agents and ends them at SIGTERM.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serverProgram } from '../../real/built-server.ts'
import { besideThis } from '../child.ts'
import type { Gate } from '../gate.ts'
import { compare, spreadOf, type Cost, type Round } from '../rounds.ts'
import { bareProgram, startOnce } from '../start.ts'
import { costOf, timed, timesOf, userRow } from './row.ts'
import { createConversation, placesIn, startServer, withFolder } from './server.ts'

const agents = 10
const megabyte = 1e6

export const start: Gate = ({ budgetMs }) => withFolder(async (folder) => {
  const { data, workspace } = placesIn(folder)
  const bytes: { readonly ours: number[]; readonly limit: number[] } = { ours: [], limit: [] }
  const sideOf = (argv: readonly string[], memory: number[]) => async (): Promise<Cost> => {
    const { cost, residentBytes } = await startOnce(argv)
    memory.push(residentBytes / megabyte)
    return cost
  }
  const program = [serverProgram, '--port', '0', '--data-dir', data, '--workspace-dir', workspace]
  const comparison = await compare({
    limit: sideOf([bareProgram], bytes.limit), ours: sideOf(program, bytes.ours),
  }, budgetMs)
  return [
    userRow({
      what: 'start until the first answer', limit: 'node:http that answers a word',
      ...timesOf(comparison), target: { atMost: 500 },
      why: 'a proxy holds requests for half a second, so an upgrade goes unnoticed',
    }),
    userRow({
      what: 'memory after the start', unit: 'MB', limit: 'node:http that answers a word',
      ours: spreadOf(bytes.ours), least: spreadOf(bytes.limit), target: { atMost: 100 },
      why: 'the smallest machines that are sold have 512 MB, and the agents need most of it',
    }),
  ]
})

export const stop: Gate = async ({ budgetMs }) => {
  const comparison = await compare({ limit: stopBare, ours: stopOurs }, budgetMs)
  return [userRow({
    what: `stop with ${agents} working agents, until the last process is gone`,
    limit: 'a parent that ends its children', ...timesOf(comparison), target: { atMost: 2000 },
    why: 'systemd and Kubernetes wait longer, and a user at a terminal just about as long',
  })]
}

const agentProgram = fileURLToPath(besideThis('relay-agent'))

const stopOurs: Round = () => withFolder(async (folder) => {
  const server = await startServer(folder, ['--agent-limit', String(agents), '--drain-seconds', '0'])
  try {
    const command = [process.execPath, agentProgram]
    const ids = await Promise.all(Array.from({ length: agents }, () => createConversation(server, command)))
    const message = { role: 'user', content: [{ type: 'text', text: 'delta 100000' }], run: true }
    await Promise.all(ids.map((id) => server.call('POST', `/api/conversations/${id}/events`, message)))
    const family = await familyOf(server.pid, agents)
    return costOf(await timed(async () => {
      await server.stop()
      await untilGone(family)
    }))
  } finally {
    await server.stop()
  }
})

async function stopBare(): ReturnType<Round> {
  const parent = fork(fileURLToPath(besideThis('users/bare-parent')), [agentProgram, `${agents}`], { stdio: 'ignore' })
  const family = await familyOf(parent.pid ?? 0, agents)
  return costOf(await timed(async () => {
    parent.kill('SIGTERM')
    await once(parent, 'exit')
    await untilGone(family)
  }))
}

/** The processes below one, when there are so many agents. */
async function familyOf(pid: number, count: number): Promise<number[]> {
  for (;;) {
    const family = descendantsOf(pid)
    const working = family.filter((one) => readCommand(one).includes('relay-agent'))
    if (working.length >= count) return family
    await pause(50)
  }
}

function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const parent = /^[^]*\) \S (\d+)/.exec(readProc(name, 'stat'))?.[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one)
    return parent !== undefined && (parent === pid || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}

async function untilGone(pids: readonly number[]): Promise<void> {
  const isAlive = (pid: number): boolean => {
    const stat = readProc(String(pid), 'stat')
    return stat !== '' && !/\) Z/.test(stat)
  }
  while (pids.some(isAlive)) await pause(1)
}

function readCommand(pid: number): string {
  return readProc(String(pid), 'cmdline')
}

function readProc(pid: string, name: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(join('/proc', pid, name), 'latin1') : ''
  } catch {
    // It is gone.
    return ''
  }
}
