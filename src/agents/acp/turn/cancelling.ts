/** Finds out whether processes of a cancelled turn still run (decisions 16). */
import { sleep } from '../../../base/wait.ts'
import type { AcpSession } from '../session/session.ts'

/** True if a process that began in the turn does not end within `leftoverMs`, or if processes cannot be listed. */
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
