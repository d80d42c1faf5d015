/**
 * Encrypts (seals) the secrets of a stored conversation again with the newest key, while no server uses its folder.
 *
 * Lines of a log are never changed, so new records with the agent and the secrets are appended. Each record is written
 * twice: if one copy is damaged, the other copy still replaces the old record.
 */
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import { eventKinds } from '../../schema/generated/events.ts'
import { isSecretSource, toSecretSource } from '../../schema/generated/secrets.ts'
import { isSealed, type Cipher } from '../../settings/cipher.ts'
import { keysOfTokens } from '../../settings/key-ids.ts'
import { mapSecrets } from '../../settings/secret-fields.ts'
import { mapSourceSecrets } from '../../settings/secret-source.ts'
import type { LineCache } from '../../storage/line-cache.ts'
import { openLog } from '../../storage/log.ts'
import { foldLog } from '../../conversation/log/log-state.ts'
import { readCachedState } from '../../conversation/log/state-cache.ts'
import type { ConversationState } from '../../conversation/log/state.ts'
import type { PrivateRecord } from '../../conversation/log/records.ts'

type KeyIds = ReadonlySet<string>

/**
 * Encrypts the current secrets with the newest key. Returns the ids of the keys that the secrets need afterwards.
 * @throws AppError `not_found` for a folder without a conversation, `storage_full`, `storage_failed`
 */
export async function resealConversation(directory: string, cipher: Cipher, cache: LineCache): Promise<KeyIds> {
  const log = await openLog({ directory, kinds: eventKinds, cache, onDamage: ignore })
  try {
    const state = await foldLog(log, { from: await readCachedState(directory, log) })
    const [newest = ''] = cipher.keyIds
    const before = keysOfTokens([state.agent, state.secrets])
    if ([...before].every((id) => id === newest)) return before
    const { agent, secrets } = resealed(state, cipher)
    const records: PrivateRecord[] = [['agent', agent], ['secrets', secrets]]
    for (const record of [...records, ...records]) log.append(Buffer.from(JSON.stringify(record)))
    await log.durable()
    return keysOfTokens([agent, secrets])
  } finally {
    await log.close()
  }
}

/** Encrypts the secrets again. An encrypted value (token) that no available key opens stays unchanged. */
function resealed({ agent, secrets }: ConversationState, cipher: Cipher): Pick<ConversationState, 'agent' | 'secrets'> {
  const reseal = (token: string, context: string, formerContext = context): string => {
    const opened = isSealed(token) ? (cipher.open(token, context) ?? cipher.open(token, formerContext)) : undefined
    return opened === undefined ? token : cipher.seal(opened, context)
  }
  const entries = Object.entries(secrets).map(([name, source]): [string, JsonObject] => {
    if (!isSecretSource(source)) return [name, source]
    const next = mapSourceSecrets(toSecretSource(source), (token, path) => reseal(token, `${name}.${path}`, name))
    return [name, toJsonObject(next)]
  })
  const next = mapSecrets('ConversationAgent', agent, (token, path) => reseal(token, path))
  return { agent: isObject(next) ? toJsonObject(next) : agent, secrets: Object.fromEntries(entries) }
}

function ignore(): void {}
