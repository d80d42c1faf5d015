/**
 * Reads information about processes from /proc on Linux (proc(5)), and sends signals to processes.
 *
 * Process ids are used again, so a process is identified by its id and its start time.
 */
import { setImmediate } from 'node:timers/promises'
import { readdir, readFileSync } from '../base/read-files.ts'
import { markerVariable } from './marker.ts'

export interface ProcessEntry {
  readonly pid: number
  readonly ppid: number
  readonly group: number
  readonly session: number
  /** The start time of the process, in clock ticks since boot (field 22 of stat). */
  readonly start: number
}

/** Returns all live processes, without zombies; undefined without /proc. An entry of `known` is not read again. */
export async function readProcesses(
  proc: string, known?: ReadonlyMap<number, ProcessEntry>,
): Promise<ProcessEntry[] | undefined> {
  const names = await readdir(proc).catch((): string[] => []) // There is no /proc.
  // A /proc that does not list this process is unusable.
  if (!names.includes(String(process.pid))) return undefined
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const entries = await mapInTurns(pids, (pid) => known?.get(pid) ?? readProcess(proc, pid))
  return entries.filter((entry) => entry !== undefined)
}

/** Returns a process; undefined for a missing process, a dead process and a zombie. */
export function readProcess(proc: string, pid: number): ProcessEntry | undefined {
  return parseStat(readText(`${proc}/${pid}/stat`))
}

/** Sends a signal to the process of an entry, unless the process has ended. A failure is ignored. */
export function signalProcess(proc: string, { pid, start }: ProcessEntry, signal: NodeJS.Signals): void {
  if (readProcess(proc, pid)?.start !== start) return
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended meanwhile. Or it belongs to another user, and the next search returns it again.
  }
}

/**
 * Parses a line of /proc/pid/stat: `pid (name) state ppid pgrp session ...`. The name may hold spaces and parentheses.
 * Returns undefined for a zombie, a dead process and any other text.
 */
export function parseStat(line: string): ProcessEntry | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ', 20)
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

/** Reads the marker in the environment of a process; `unknown` when the environment cannot be read or is empty. */
export function readMarker(proc: string, pid: number): { readonly marker: string | undefined } | 'unknown' {
  const prefix = `${markerVariable}=`
  const environment = readText(`${proc}/${pid}/environ`)
  if (environment === '') return 'unknown'
  return { marker: environment.split('\0').find((entry) => entry.startsWith(prefix))?.slice(prefix.length) }
}

/**
 * Reads a file; an empty text if that fails. Reading is synchronous, because the thread pool would be ten times slower.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // The process has ended, or belongs to another user.
  }
}

/** Maps a list, and yields to the event loop after every hundred items: there may be thousands of processes. */
export async function mapInTurns<T, R>(list: readonly T[], map: (item: T) => R): Promise<R[]> {
  const result: R[] = []
  for (const item of list) {
    result.push(map(item))
    if (result.length % 100 === 0) await setImmediate()
  }
  return result
}
