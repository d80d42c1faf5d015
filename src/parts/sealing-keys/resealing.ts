/**
 * Encrypts (seals) the secrets of a data folder again with the newest key, while no server uses the folder.
 *
 * A value that no available key opens stays unchanged, and the report says so. At the end, the ids of the keys that may
 * still be needed are written to `seals.json` (settings/seals.ts).
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import { silentLog } from '../../base/log.ts'
import { createMasker } from '../../base/masking.ts'
import { resealConversation } from './reseal-conversation.ts'
import type { Part, ResealFolder } from '../../part.ts'
import { lockFolder } from '../../process/lock.ts'
import { openSealedStores, readKeys, type SealedStores, type SealingConfig } from '../../sealed-stores.ts'
import { createCipher, type Cipher } from '../../settings/cipher.ts'
import { rotateStoredKey } from '../../settings/keys.ts'
import { readSeals, sealsFile, writeSeals } from '../../settings/seals.ts'
import { listConversations } from '../../storage/catalogue.ts'
import { assertOwnDataFolder } from '../../storage/data-folder-claim.ts'
import { LineCache } from '../../storage/line-cache.ts'

export interface ResealReport {
  /** The id of the newest key, with which values are encrypted. */
  readonly key: string
  readonly conversations: number
  /** A sentence for each file, profile or conversation that could not be encrypted with the newest key. */
  readonly left: readonly string[]
  /** The ids of available keys, except the newest, that no current value needs. Old log records may still need them. */
  readonly unneeded: readonly string[]
}

/**
 * Encrypts the stored secrets again with the newest key. The report names the data for which this failed.
 * @throws AppError `owned_by_another`, `not_found`, `settings_unreadable`, `storage_full`, `storage_failed`; the errors
 * of `assertOwnDataFolder`
 */
export function reseal(config: SealingConfig, parts: readonly Part[]): Promise<ResealReport> {
  return whileUnused(config.dataDir, async () => {
    const given = await readKeys(config)
    if (given.length === 0) throw new AppError('not_found', 'There is no sealing key: none is given, and none was made')
    const cipher = createCipher({ keys: given, random: randomBytes })
    const { dataDir } = config
    const stores = openSealedStores({ dataDir, cipher, masker: createMasker(), providers: [], parts, log: silentLog })
    const left: string[] = []
    const keys = new Set(await resealStores(stores, left))
    const cache = new LineCache({ logBytes: 1024 * 1024, totalBytes: 4 * 1024 * 1024 })
    const folder = join(config.dataDir, 'conversations')
    const folders = await Promise.all(parts.flatMap(({ resealFolder }) => resealFolder?.() ?? []))
    const ids = (await listConversations(folder)).sort()
    for (const id of ids) {
      const needed = await resealOne(join(folder, id), { id, cipher, cache, folders, left })
      for (const key of needed) keys.add(key)
    }
    return noteFound(config.dataDir, { cipher, keys, left, conversations: ids.length })
  })
}

/**
 * Creates a new key in `keys/`, where the earlier keys stay. Does not encrypt stored values again (see `reseal`).
 * @throws AppError `invalid_option` when the key is given as an option, and the errors of `reseal`
 */
export function rotate({ dataDir, secretKey }: SealingConfig): Promise<void> {
  if (secretKey !== undefined) {
    const expected = 'expected the new key as --secret-key and this key as --old-secret-key'
    throw new AppError('invalid_option', `Could not make a new sealing key: the configuration gives it, ${expected}`)
  }
  return whileUnused(dataDir, () => rotateStoredKey({ folder: join(dataDir, 'keys'), random: randomBytes }))
}

/**
 * Removes the id of a lost key from `seals.json`, the list of the sealing keys that the data folder may need.
 * @throws AppError `not_found` when the file does not list the key, and the errors of `reseal`
 */
export function forget({ dataDir }: SealingConfig, id: string): Promise<void> {
  return whileUnused(dataDir, async () => {
    const path = join(dataDir, sealsFile)
    const noted = await readSeals(path)
    if (!noted.includes(id)) {
      const remedy = 'see agent-server sealing-keys list'
      throw new AppError('not_found', `The data folder notes no sealing key "${id}": ${remedy}`)
    }
    await writeSeals(path, noted.filter((one) => one !== id))
  })
}

async function whileUnused<T>(dataDir: string, body: () => Promise<T>): Promise<T> {
  await assertOwnDataFolder(dataDir)
  const lock = await lockFolder(dataDir, { clock: Date.now, onLost: () => undefined })
  try {
    return await body()
  } finally {
    await lock.release()
  }
}

/**
 * Encrypts the files of settings, profiles, secrets and parts again. Adds a sentence to `left` for each file or profile
 * that fails. Returns the ids of the keys that the failed files and profiles may still need.
 */
async function resealStores(stores: SealedStores, left: string[]): Promise<readonly string[]> {
  const needed: string[] = []
  const ofParts = (await stores.partFiles()).map((file) => () => file.rewrite())
  const { settings, profiles, secrets } = stores
  const files = [() => settings.reseal(), () => profiles.reseal(), () => secrets.reseal(), ...ofParts]
  for (const resealFile of files) await resealFile().catch((thrown: unknown) => left.push(sentenceOf(thrown)))
  if (left.length > 0) needed.push(...await stores.notedKeys())
  const unopened = await stores.profiles.unopened().catch(() => []) // `profiles.reseal` put the same error in `left`.
  for (const { name, keys } of unopened) {
    left.push(`The profile "${name}" needs the key ${keys.join(', ')}`)
    needed.push(...keys)
  }
  return needed
}

interface OneConversation {
  readonly id: string
  readonly cipher: Cipher
  readonly cache: LineCache
  /** Functions of the server's parts. Each encrypts its part's files in a conversation's folder again. */
  readonly folders: readonly ResealFolder[]
  readonly left: string[]
}

async function resealOne(directory: string, conversation: OneConversation): Promise<ReadonlySet<string>> {
  const { id, cipher, cache, folders, left } = conversation
  const keys = new Set<string>()
  try {
    for (const key of await resealConversation(directory, cipher, cache)) keys.add(key)
    for (const resealFolder of folders) for (const key of await resealFolder(directory, cipher)) keys.add(key)
  } catch (thrown) {
    left.push(`Conversation ${id}: ${sentenceOf(thrown)}`)
  }
  const missing = [...keys].filter((key) => !cipher.keyIds.includes(key))
  if (missing.length > 0) left.push(`Conversation ${id} needs the key ${missing.join(', ')}`)
  return keys
}

interface Found {
  readonly cipher: Cipher
  readonly keys: ReadonlySet<string>
  readonly left: readonly string[]
  readonly conversations: number
}

async function noteFound(dataDir: string, { cipher, keys, left, conversations }: Found): Promise<ResealReport> {
  const [key = ''] = cipher.keyIds
  const path = join(dataDir, sealsFile)
  // A sentence that names no key reports an error. The data may then need any key in `seals.json`, so all are kept.
  const isSure = left.every((sentence) => sentence.includes(' needs the key '))
  const needed = new Set([key, ...keys, ...(isSure ? [] : await readSeals(path))])
  await writeSeals(path, needed)
  return { key, conversations, left, unneeded: cipher.keyIds.filter((id) => !needed.has(id)) }
}

/** Returns the message of an AppError. @throws any other error */
function sentenceOf(thrown: unknown): string {
  if (thrown instanceof AppError) return messageOf(thrown)
  throw thrown
}
