/**
 * The record of the newest backup, `backup-last.json` in the data folder: when it began, and where it is.
 *
 * The record may outlive the backup.
 */
import { join, resolve } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { isThere, stat } from '../../base/read-files.ts'
import type { Finding } from '../../finding.ts'
import { lastBackupName } from './contents.ts'

export interface LastBackup {
  /** The time at which the backup began, in milliseconds since the epoch. */
  readonly madeMs: number
  /** The path of the backup's folder; undefined for an archive on standard output. */
  readonly folder: string | undefined
}

/** Writes `backup-last.json`. Returns the reason of a failure in words; undefined when the file is written. */
export async function noteBackup(
  dataDir: string, { made, to }: { readonly made: string; readonly to: string },
): Promise<string | undefined> {
  try {
    const { uid } = await stat(dataDir)
    if (uid !== process.getuid?.()) return 'the folder belongs to another user'
    await writeJsonFile(join(dataDir, lastBackupName), { made, folder: to === '-' ? null : resolve(to) })
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

const limitBytes = 64 * 1024

/** Reads `backup-last.json`; undefined if missing. @throws AppError `storage_failed`; RangeError if it has no time */
export async function readLastBackup(dataDir: string): Promise<LastBackup | undefined> {
  const record = await readJsonFile(join(dataDir, lastBackupName), { limitBytes })
  if (record === undefined) return undefined
  const { made, folder } = objectOf(record)
  const madeMs = Date.parse(textOf(made) ?? '')
  if (Number.isNaN(madeMs)) throw new RangeError(`"${lastBackupName}" has no time`)
  return { madeMs, folder: textOf(folder) }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** The age of the newest backup above which `doctor` reports a `note`. */
const oldMs = 7 * dayMs

/** Examines the age of the newest backup for `agent-server doctor`. */
export async function examineBackups(dataDir: string, now: number): Promise<Finding> {
  const subject = 'backup'
  const advice = 'see why agent-server backup does not run any more'
  try {
    const last = await readLastBackup(dataDir)
    if (last === undefined) {
      const text = 'none is known: agent-server backup notes each backup that the owner of the data folder makes'
      const isUsed = await isThere(join(dataDir, 'format.json'))
      return isUsed ? { subject, state: 'note', text, advice: 'run agent-server backup' }
        : { subject, state: 'ok', text, advice: '' }
    }
    const age = now - last.madeMs
    const text = `the newest began ${ageWords(age)} ago, ${last.folder ?? 'an archive on standard output'}`
    return age > oldMs ? { subject, state: 'note', text, advice } : { subject, state: 'ok', text, advice: '' }
  } catch (thrown) {
    const mend = `make a backup as the owner of the data folder: it writes ${lastBackupName} again`
    return { subject, state: 'note', text: messageOf(thrown), advice: mend }
  }
}

function ageWords(age: number): string {
  if (age < hourMs) return 'less than an hour'
  const [count, unit] = age < 2 * dayMs ? [Math.floor(age / hourMs), 'hour'] : [Math.floor(age / dayMs), 'day']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
