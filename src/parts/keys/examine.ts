/** Examines the named keys for `agent-server doctor`: keys that have expired, expire soon or cannot be read. */
import { messageOf } from '../../base/errors.ts'
import type { Finding } from '../../finding.ts'
import { namesIn, readKey } from './key-files.ts'

const soonMs = 14 * 86_400_000

export async function examineNamedKeys(dataDir: string, now: number): Promise<Finding> {
  const subject = 'named keys'
  const [over, soon, unreadable]: [string[], string[], string[]] = [[], [], []]
  const names = await namesIn(dataDir).catch((thrown: unknown) => {
    unreadable.push(messageOf(thrown))
    return []
  })
  for (const name of names) {
    const key = await readKey(dataDir, name).catch((thrown: unknown) => void unreadable.push(messageOf(thrown)))
    if (key?.expires === undefined) continue
    const day = new Date(key.expires).toISOString().slice(0, 10)
    if (key.expires <= now) over.push(name)
    else if (key.expires < now + soonMs) soon.push(`${name} (${day})`)
  }
  if (unreadable.length > 0) {
    return { subject, state: 'problem', text: unreadable.join('; '), advice: 'agent-server keys revoke NAME' }
  }
  const parts = [
    ...(over.length === 0 ? [] : [`over: ${over.join(', ')}`]),
    ...(soon.length === 0 ? [] : [`end soon: ${soon.join(', ')}`]),
  ]
  if (parts.length === 0) return { subject, state: 'ok', text: `${names.length}, none ends soon`, advice: '' }
  const advice = 'add the next key with agent-server keys add, move its program, and revoke the old key'
  return { subject, state: 'note', text: parts.join('; '), advice }
}
