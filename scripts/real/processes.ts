/**
 * The processes that a server has started, as the system shows them: told by the marker that all of them inherit.
 *
 * This is a second look at a promise of the server (decisions 26), so none of its code is used. Linux only.
 */
import { readdir, readFile } from 'node:fs/promises'
import { sleep } from '../../src/base/wait.ts'
import { patienceMs } from './rest.ts'

export interface MarkedProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/**
 * Finds the processes of a server. `instance` is the id in the format file of its data folder; every marker begins with
 * it.
 */
export async function markedProcesses(instance: string): Promise<MarkedProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(pids.map((pid) => readMarked(pid, instance)))
  return found.filter((one) => one !== undefined)
}

/** Waits until there is one whose command line fits. */
export async function untilMarked(instance: string, fits: RegExp): Promise<MarkedProcess> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(50)) {
    const found = (await markedProcesses(instance)).find(({ command }) => fits.test(command))
    if (found !== undefined) return found
  }
  throw new Error(`No process was seen within ${patienceMs} ms: ${fits}`)
}

async function readMarked(pid: string, instance: string): Promise<MarkedProcess | undefined> {
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'latin1').catch(() => '')
  const [environment, command, stat] = await Promise.all([read('environ'), read('cmdline'), read('stat')])
  if (!environment.split('\0').some((one) => one.startsWith(`AGENT_SERVER_CHILD=${instance}`))) return undefined
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  return { pid: Number(pid), parent, command: command.replaceAll('\0', ' ').trim() }
}
