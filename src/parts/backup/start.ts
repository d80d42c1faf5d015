/**
 * Starts the part `backup`: a metric with the age of the newest backup.
 *
 * `figures` returns the age by the record that was read last, and begins to read the record again. So a new backup may
 * appear one scrape late.
 */
import type { Core } from '../../capabilities.ts'
import type { StartedPart } from '../../part.ts'
import { readLastBackup, type LastBackup } from './last-backup.ts'

export async function start({ dataDir, clock }: Pick<Core, 'dataDir' | 'clock'>): Promise<StartedPart> {
  // A record that cannot be read gives no figure here: `doctor` reports it.
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
