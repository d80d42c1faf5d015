/**
 * Starts the part `backup`: a metric with the age of the newest backup.
 *
 * `figures` uses what was last read from `backup-last.json` (last-backup.ts), and reads the file again for the next
 * scrape. So a new backup may appear in the metric one scrape late.
 */
import type { Lent, Started } from '../../part.ts'
import { readLastBackup, type LastBackup } from './last-backup.ts'
import type { backup } from './part.ts'

export async function start({ dataDir, clock }: Lent<typeof backup>): Promise<Started<typeof backup>> {
  // Without a readable file there is no metric. The command `doctor` reports a file that cannot be read.
  const read = (): Promise<LastBackup | undefined> => readLastBackup(dataDir).catch(() => undefined)
  let last = await read()
  let reading: Promise<void> | undefined
  return {
    figures() {
      reading ??= read().then((found) => void (last = found)).finally(() => (reading = undefined))
      if (last === undefined) return []
      const value = Math.max(0, (clock() - last.madeMs) / 1000)
      return [{ name: 'backup_age_seconds', type: 'gauge', about: 'Time since the newest backup began.', value }]
    },
    async close() {
      await reading
    },
  }
}
