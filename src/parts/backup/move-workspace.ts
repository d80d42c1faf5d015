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
 * Calls `newPath` with the current path, appends the returned path to the log, and returns true. If the two paths are
 * equal, appends nothing and returns false.
 * @throws AppError `not_found` for a folder without a conversation, `format_unsupported`, `storage_full` or
 * `storage_failed`
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
