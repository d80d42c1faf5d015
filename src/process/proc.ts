/**
 * What Linux tells about processes in /proc (proc(5)), read only.
 *
 * A pid alone names nobody for long: numbers are used again. Here a process is its pid and its start time, and is
 * signalled only if both still match. Between that look and the signal lie microseconds in which a number would have
 * to be freed and used again; Node has no call that closes this gap. Where there is no /proc (macOS), `readProcesses`
 * gives undefined and callers fall back to process groups.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { markerVariable } from './marker.ts'

export interface ProcessEntry {
  readonly pid: number
  readonly ppid: number
  readonly group: number
  readonly session: number
  /** Clock ticks since boot (field 22 of stat). */
  readonly start: number
}

/** Every process that can still do something (zombies cannot), or undefined where there is no /proc. */
export async function readProcesses(proc: string): Promise<ProcessEntry[] | undefined> {
  const names = await readdir(proc).catch((): string[] => [])
  // A /proc that does not even show ourselves is none.
  if (!names.includes(String(process.pid))) return undefined
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const entries = await mapInTurns(pids, (pid) => readProcess(proc, pid))
  return entries.filter((entry) => entry !== undefined)
}

/** One process, or undefined if it is not there or a zombie. */
export function readProcess(proc: string, pid: number): ProcessEntry | undefined {
  return parseStat(readText(join(proc, String(pid), 'stat')))
}

/** Sends a signal if the process is still the one that was seen. */
export function signalProcess(proc: string, { pid, start }: ProcessEntry, signal: NodeJS.Signals): void {
  if (readProcess(proc, pid)?.start !== start) return
  try {
    process.kill(pid, signal)
  } catch {
    // Gone meanwhile, or another user's: whoever looks next sees which.
  }
}

/**
 * One line of /proc/pid/stat: `pid (name) state ppid pgrp session ...`; the name may hold blanks and parentheses.
 * Undefined for a zombie, a dead process and whatever is no such line.
 */
export function parseStat(line: string): ProcessEntry | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [state, ppid, group, session] = fields
  const start = fields[19]
  if (start === undefined || state === 'Z' || state === 'X') return undefined
  return {
    pid: Number.parseInt(line, 10),
    ppid: Number(ppid),
    group: Number(group),
    session: Number(session),
    start: Number(start),
  }
}

/** The marker in the environment of a process, or none; `unknown` when it shows no environment, to us or at all. */
export function readMarker(proc: string, pid: number): { readonly marker: string | undefined } | 'unknown' {
  const prefix = `${markerVariable}=`
  const environment = readText(join(proc, String(pid), 'environ'))
  if (environment === '') return 'unknown'
  return { marker: environment.split('\0').find((entry) => entry.startsWith(prefix))?.slice(prefix.length) }
}

/**
 * Empty if it cannot be read. Synchronous: /proc is memory, and ten times slower over the thread pool. In UTF-8, which Node
 * reads in one call; what is none stands in names and values that nobody looks at.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Lets others run after every hundred, since a machine may have thousands of processes. */
export async function mapInTurns<T, R>(list: readonly T[], map: (item: T) => R): Promise<R[]> {
  const result: R[] = []
  for (const item of list) {
    result.push(map(item))
    if (result.length % 100 === 0) await setImmediate()
  }
  return result
}
