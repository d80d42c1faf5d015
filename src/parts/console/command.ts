/**
 * `agent-server console`: prints an address that opens the console and signs in.
 *
 * The address has a one-time code from the server that runs on the data folder. With `--no-auth` the address has no
 * code.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { memberAt, textOf } from '../../base/fields.ts'
import { parseJson } from '../../base/json.ts'
import { assertNoWords } from '../../option.ts'
import type { CommandCall } from '../../part.ts'
import { readOwner } from '../../process/lock.ts'
import { readSessionKey } from '../../settings/keys.ts'
import { consoleAddress } from './address.ts'

/**
 * Prints the address and returns 0. @throws AppError `invalid_option`, `not_found`, `settings_unreadable`,
 * `upstream_failed`; the errors of `sendRequest`
 */
export async function run({ config, words, print, signal }: CommandCall): Promise<number> {
  assertNoWords('console', words)
  const url = (await readOwner(config.dataDir))?.url
  if (url === undefined) throw new AppError('not_found', `No server runs on ${config.dataDir}: start agent-server`)
  const page = config.publicUrl ?? url
  if (config.noAuth) {
    print(`${consoleAddress(page)}\n`)
    return 0
  }
  const key = config.sessionApiKeys[0] ?? await readSessionKey(join(config.dataDir, 'keys'))
  const headers = { ...(key === undefined ? {} : { 'X-Session-API-Key': key }) }
  // `sendRequest` is loaded only when this command runs.
  const { sendRequest } = await import('../net/outbound.ts')
  const { status, body } = await sendRequest({
    method: 'POST', url: `${url}/api/console/codes`, headers, limitBytes: 64 * 1024, timeoutMs: 10_000, signal,
  })
  const code = status === 200 ? textOf(memberAt(parseJson(body.toString('utf8')), 'code')) : undefined
  if (code === undefined) {
    const why = status === 401 ? 'it has other keys: give its key with --session-api-key-file' : 'has it a console?'
    throw new AppError('upstream_failed', `The server at ${url} gave no code (status ${status}): ${why}`)
  }
  print(`${consoleAddress(page, code)}\n`)
  return 0
}
