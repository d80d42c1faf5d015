/** The parts that tests of processes share: folders and waits, and pids that must be gone in the end. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProcess } from '../../src/process/proc.ts'
import { openWaits } from './waits.ts'

/** A new folder, and its removal. */
export function makeFolder(): { folder: string, remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-test-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * Resolves when the condition holds. Asks seldom after a long wait: most conditions are requests to a server. It gives
 * up after two minutes: a test that has failed must be able to end. `words` name the condition in the error.
 */
export async function until(condition: () => boolean | Promise<boolean>, words = String(condition)): Promise<void> {
  const start = Date.now()
  openWaits.add(words)
  try {
    while (!await condition()) {
      const waitedMs = Date.now() - start
      if (waitedMs > 120_000) throw new Error(`Waited in vain for ${words}`)
      await new Promise((resolve) => setTimeout(resolve, Math.min(10 + waitedMs / 20, 100)))
    }
  } finally {
    openWaits.delete(words)
  }
}

/** The pids that processes put into a folder as names of files. */
export function pidsIn(folder: string): number[] {
  return readdirSync(folder).filter((name) => /^\d+$/.test(name)).map(Number)
}

export function isAlive(pid: number): boolean {
  return readProcess('/proc', pid) !== undefined
}

/** A folder that looks like /proc and shows this process and one more, which carries a marker and never goes away. */
export function fakeProc({ pid, marker }: { pid: number, marker: string }): { folder: string, remove: () => void } {
  const { folder, remove } = makeFolder()
  const show = (shown: number, session: number): void => {
    mkdirSync(join(folder, String(shown)))
    writeFileSync(join(folder, String(shown), 'stat'), statLine({ pid: shown, session }))
  }
  show(process.pid, 1)
  show(pid, 2)
  writeFileSync(join(folder, String(pid), 'environ'), `A=1\0AGENT_SERVER_CHILD=${marker}\0`)
  return { folder, remove }
}

/** A line of /proc/pid/stat with 52 fields. */
export function statLine(
  { pid = 10, name = 'sh', state = 'S', ppid = 1, group = 10, session = 10, start = 5000 },
): string {
  const filler = (length: number): string => Array.from({ length }, () => '0').join(' ')
  return `${pid} (${name}) ${state} ${ppid} ${group} ${session} ${filler(15)} ${start} ${filler(30)}\n`
}

/** True when every thread of a process is stopped: a signal reaches threads that run a moment after it was sent. */
export function isStopped(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.every((thread) => /^\d+ \(.*\) [Tt]/s.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')))
}

/** Calls `body` with a new folder, which is removed afterwards. */
export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const { folder, remove } = makeFolder()
  try {
    await body(folder)
  } finally {
    remove()
  }
}
