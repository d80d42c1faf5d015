/** `agent-server key`: prints the path of the session key's file in the data folder, or with `--show` the key. */
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { assertNoWords } from '../option.ts'
import { readOwner } from '../process/lock.ts'
import { readSessionKey, sessionKeyPath } from '../settings/keys.ts'

/** Runs the command. @throws AppError `invalid_option`, `not_found`, `settings_unreadable` */
export async function printKey(
  { dataDir, sessionApiKeys }: Config,
  words: readonly string[],
  isShown: boolean,
): Promise<number> {
  assertNoWords('key', words)
  if (sessionApiKeys.length > 0) {
    const problem = 'it is given as an option, and not kept in the data folder'
    throw new AppError('invalid_option', `Could not print the session key: ${problem}`)
  }
  const folder = join(dataDir, 'keys')
  const key = await readSessionKey(folder)
  if (key === undefined) {
    const why = await readOwner(dataDir) === undefined ? 'it is made when the server starts'
      : 'its server was given other keys, in --session-api-key-file, a variable or a configuration file'
    throw new AppError('not_found', `There is no session key in ${dataDir}: ${why}`)
  }
  process.stdout.write(`${isShown ? key : sessionKeyPath(folder)}\n`)
  return 0
}
