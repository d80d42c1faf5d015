/**
 * `agent-server sealing-keys`: manages the keys that encrypt (seal) stored secrets.
 *
 * Keys are not printed, only their ids. While a server runs on the data folder, only `list` works.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { CommandCall, Part } from '../../part.ts'
import { forget, reseal, rotate } from './resealing.ts'
import { readKeyIds, type SealingConfig } from '../../sealed-stores.ts'
import { readSeals, sealsFile } from '../../settings/seals.ts'
import { formatRows } from '../../base/rows.ts'

/**
 * Returns exit code 1 when `reseal` could not encrypt all data with the newest key, otherwise 0.
 * @throws AppError `invalid_option`, and the errors of `resealing.ts`
 */
export async function run({ config, words: [action, ...words], parts, print }: CommandCall): Promise<number> {
  const say = (text: string): void => print(`${text}\n`)
  if (action !== 'forget' && words.length > 0) throw refused(`sealing-keys ${action ?? ''} ${words.join(' ')}`)
  switch (action) {
    case 'list': return list(config, say)
    case 'rotate': {
      await rotate(config)
      say('A new key seals from now on. Next: agent-server sealing-keys reseal')
      return 0
    }
    case 'reseal': return resealAll(config, parts, say)
    case 'forget': return forgetKey(config, words, say)
    default: throw refused(`sealing-keys ${action ?? ''}`.trim())
  }
}

type Say = (text: string) => void

async function list(config: SealingConfig, say: Say): Promise<number> {
  const given = await readKeyIds(config)
  const noted = await readSeals(join(config.dataDir, sealsFile))
  const rows = [...new Set([...given, ...noted])].map((id) => {
    const what = id === given[0] ? 'seals and opens' : given.includes(id) ? 'opens' : 'missing'
    return [id, what, noted.includes(id) ? 'something may be sealed with it' : 'nothing was sealed with it']
  })
  if (rows.length === 0) say('There is no key yet: it is made when the server starts')
  else say(formatRows(rows))
  return 0
}

async function resealAll(config: SealingConfig, parts: readonly Part[], say: Say): Promise<number> {
  const { key, conversations, left, unneeded } = await reseal(config, parts)
  for (const sentence of left) say(sentence)
  const count = `${conversations} ${conversations === 1 ? 'conversation' : 'conversations'}`
  say(`Sealed with ${key}: settings, secrets, profiles, logins, and the newest records of ${count}`)
  if (unneeded.length > 0) {
    say(`Nothing needs ${unneeded.join(', ')} any more. Earlier records in the logs stay sealed with it`)
  }
  return left.length === 0 ? 0 : 1
}

async function forgetKey(config: SealingConfig, [id, ...more]: readonly string[], say: Say): Promise<number> {
  if (id === undefined || more.length > 0) throw refused('sealing-keys forget')
  await forget(config, id)
  say(`${id}  is not asked for any more; values that it has sealed do not open`)
  return 0
}

function refused(what: string): AppError {
  const expected = 'expected list, rotate, reseal, or forget and the id of one key'
  return new AppError('invalid_option', `Could not use "${what}": ${expected}`)
}
