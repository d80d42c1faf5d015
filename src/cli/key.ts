/**
 * `agent-server key`: where the session key is that the server has made for its data folder, or with `--show` the key itself.
 *
 * It reads one file and makes none. A key that the operator gave as an option is not printed: it stands where it was given.
 */
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { readSessionKey, sessionKeyPath } from '../settings/keys.ts'

/** @throws AppError `invalid_option`, `not_found`, `settings_unreadable` */
export async function printKey({ dataDir, sessionApiKeys }: Config, words: readonly string[], isShown: boolean): Promise<number> {
  const [word] = words
  if (word !== undefined) throw new AppError('invalid_option', `Could not use "${word}": key takes options only`)
  if (sessionApiKeys.length > 0) {
    throw new AppError('invalid_option', 'Could not print the session key: it is given as an option, and not kept in the data folder')
  }
  const folder = join(dataDir, 'keys')
  const key = await readSessionKey(folder)
  if (key === undefined) throw new AppError('not_found', `There is no session key in ${dataDir} yet: it is made when the server starts`)
  process.stdout.write(`${isShown ? key : sessionKeyPath(folder)}\n`)
  return 0
}
