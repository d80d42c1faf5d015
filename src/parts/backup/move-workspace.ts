/**
 * Changes the workspace path of a stored conversation. No server may use the conversation's folder meanwhile.
 *
 * The path is appended as a record, because lines of a log are never changed. Earlier events keep the old path.
 */
import { foldLog } from '../../conversation/log/log-state.ts'
import type { PrivateRecord } from '../../conversation/log/records.ts'
import { eventKinds } from '../../schema/generated/events.ts'
import type { LineCache } from '../../storage/line-cache.ts'
import { openLog } from '../../storage/log.ts'

/**
 * Appends to the log the workspace path that `newPath` returns. Returns false, and appends nothing, for the same path.
 * @throws AppError `not_found` for a folder without a conversation, `storage_full`, `storage_failed`
 */
export async function moveWorkspace(
  directory: string, cache: LineCache, newPath: (path: string) => string,
): Promise<boolean> {
  const log = await openLog({ directory, kinds: eventKinds, cache, onDamage: () => undefined })
  try {
    const { working_dir: before } = await foldLog(log, { from: undefined })
    const working_dir = newPath(before)
    if (working_dir === before) return false
    const record: PrivateRecord = ['moved', { working_dir }]
    log.append(Buffer.from(JSON.stringify(record)))
    await log.durable()
    return true
  } finally {
    await log.close()
  }
}
