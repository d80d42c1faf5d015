/**
 * Finds out whether processes that a turn started still run after the turn was cancelled. A program with such processes
 * is ended (decisions 16).
 */
import { sleep } from '../../base/wait.ts'
import type { AcpSession } from './session.ts'

/** True when a process that this turn started still runs after `leftoverMs`, or when processes cannot be listed. */
export async function hasLeftovers(session: AcpSession, leftoverMs = 1000): Promise<boolean> {
  const before = await session.processesAtRest
  const known = new Set(before?.map(({ pid, start }) => `${pid} ${start}`))
  for (let waited = 0; ; waited += 50) {
    const now = await session.connection.processes()
    if (before === undefined || now === undefined) return true
    if (now.every(({ pid, start }) => known.has(`${pid} ${start}`))) return false
    if (waited >= leftoverMs) return true
    await sleep(50)
  }
}
