/**
 * Opens the files of a data folder that hold sealed (encrypted) values, and tells whether the server's sealing keys
 * open these values.
 *
 * A store reads its file when it is first used. `problems` reads all files, so that a bad file is found at the start.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AppError, errorOf, messageOf } from './base/errors.ts'
import { silentLog, type Log } from './base/log.ts'
import { createMasker, type Masker } from './base/masking.ts'
import { whyNotMasked } from './base/masking-values.ts'
import type { Config } from './config.ts'
import type { InspectedPart } from './inspected-part.ts'
import { isLoaderVariable } from './base/loader-variable.ts'
import { isThere } from './base/read-files.ts'
import { changeLog } from './settings/change-log.ts'
import { createCipher, type Cipher } from './settings/cipher.ts'
import { readSealingKeys } from './settings/keys.ts'
import { maskingOfSecret } from './settings/masked-parts.ts'
import { createProfileStore, type FindConnection, type ProfileStore } from './settings/profiles.ts'
import type { Provider } from './settings/provider.ts'
import { readSeals, sealsFile, writeSeals } from './settings/seals.ts'
import { createSecretStore, type SecretStore } from './settings/secrets.ts'
import { createSettingsStore, type SettingsStore } from './settings/store.ts'
import type { SealedFile } from './settings/sealed-file.ts'
import { Changes } from './settings/stored-file.ts'

export interface SealedStores {
  readonly settings: SettingsStore
  readonly profiles: ProfileStore
  readonly secrets: SecretStore
  /** Runs the changes of `settings`, `profiles` and `secrets`. Is closed before the server releases the data folder. */
  readonly changes: Changes
  /** Returns the existing files with sealed values that belong to parts (optional modules). */
  partFiles(): Promise<readonly SealedFile[]>
  /** Returns sentences about files that cannot be read or opened, and about sealing keys that are missing. */
  problems(): Promise<readonly string[]>
  /** Returns the key ids in `seals.json`: stored values may need these keys. @throws AppError `settings_unreadable` */
  notedKeys(): Promise<readonly string[]>
  /** Adds the id of the current sealing key to `seals.json`. @throws the errors of `notedKeys` and `writeSeals` */
  noteKey(): Promise<void>
}

export interface SealedStoresOptions {
  readonly dataDir: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly providers: readonly Provider[]
  readonly parts: readonly InspectedPart[]
  /** Finds a provider connection (a stored key for a model provider) by its id. By default, there is none. */
  readonly findConnection?: FindConnection
  /** The server log. It gets a line for each change of a store, with the names of the changed values. */
  readonly log: Log
}

export function openSealedStores(options: SealedStoresOptions): SealedStores {
  const { dataDir, cipher, masker, providers, parts: allParts, log } = options
  const changes = new Changes()
  const place = (file: string, subject: string) => {
    return { path: join(dataDir, file), onChange: changeLog(log, `${subject} were changed`) }
  }
  const { findConnection = async () => undefined } = options
  const profiles = createProfileStore({
    ...place('profiles.json', 'LLM profiles'), cipher, masker, changes, findConnection,
  })
  const settings = createSettingsStore({
    ...place('settings.json', 'Settings'), cipher, masker, changes, providers, loadProfile: profiles.load,
  })
  const secrets = createSecretStore({ ...place('secrets.json', 'Secrets'), cipher, masker, changes, isLoaderVariable })
  const opened = new Map<string, SealedFile>()
  const partFiles = async (): Promise<readonly SealedFile[]> => {
    for (const { sealedFile } of allParts) {
      const path = join(dataDir, sealedFile?.name ?? '')
      if (sealedFile === undefined || opened.has(path) || !(await isThere(path))) continue
      const open = await sealedFile.load()
      opened.set(path, open({ path, cipher, masker }))
    }
    return [...opened.values()]
  }
  const seals = join(dataDir, sealsFile)
  const unopened = async (): Promise<readonly string[]> =>
    (await profiles.unopened()).map(({ name, keys }) => `The profile "${name}" was sealed with ${theKeys(keys)}`)
  const missing = async (): Promise<readonly string[]> => {
    const keys = (await readSeals(seals)).filter((id) => !cipher.keyIds.includes(id))
    return keys.length === 0 ? [] : [`Something in the data folder may be sealed with ${theKeys(keys)}`]
  }
  return {
    settings,
    profiles,
    secrets,
    changes,
    partFiles,
    async problems() {
      const files = (await partFiles()).map((file) => file.read())
      const looks = [settings.get(), secrets.values(), ...files, unopened(), missing()]
      const said = await Promise.allSettled(looks)
      return said.flatMap((one) => {
        if (one.status === 'fulfilled') return Array.isArray(one.value) ? one.value : []
        if (one.reason instanceof AppError) return [one.reason.message]
        throw one.reason
      })
    },
    notedKeys: () => readSeals(seals),
    async noteKey() {
      const [current = ''] = cipher.keyIds
      const noted = await readSeals(seals)
      if (!noted.includes(current)) await writeSeals(seals, [...noted, current])
    },
  }
}

export type SealingConfig = Pick<Config, 'dataDir' | 'secretKey' | 'oldSecretKeys'>

/**
 * Returns the `SealedStores.problems` of the data folder with the keys of `config`. If the keys cannot be read, returns
 * the reason. Changes nothing, so it may run while a server uses the data folder.
 */
export async function inspectSealed(
  config: SealingConfig, parts: readonly InspectedPart[],
): Promise<readonly string[]> {
  try {
    return await (await openToLook(config, parts)).problems()
  } catch (thrown) {
    if (thrown instanceof AppError) return [messageOf(thrown)]
    throw thrown
  }
}

/**
 * Returns a sentence for each global secret whose value is masked only as a whole word, or is not masked. Returns an
 * empty list if the secrets cannot be read.
 */
export async function inspectMasking(config: SealingConfig): Promise<readonly string[]> {
  try {
    const { secrets } = await openToLook(config, [])
    return [...await secrets.values()].flatMap(([name, value]) => describeMasking(name, value))
  } catch (thrown) {
    if (thrown instanceof AppError) return []
    throw thrown
  }
}

async function openToLook(config: SealingConfig, parts: readonly InspectedPart[]): Promise<SealedStores> {
  const keys = await readKeys(config)
  // `createCipher` needs a key. A random key opens no stored value.
  const cipher = createCipher({ keys: keys.length === 0 ? [randomBytes(32)] : keys, random: randomBytes })
  const { dataDir } = config
  return openSealedStores({ dataDir, cipher, masker: createMasker(), providers: [], parts, log: silentLog })
}

function describeMasking(name: string, value: string): string[] {
  const masking = maskingOfSecret(value)
  if (masking === 'everywhere') return []
  if (masking !== 'none') return [`${name} is hidden as a whole word only`]
  return [`${name} is not hidden: it ${whyNotMasked(value) ?? 'has no part that is secret by nature'}`]
}

/** Returns the ids of the keys that `readKeys` returns. @throws AppError `settings_unreadable` */
export async function readKeyIds(config: SealingConfig): Promise<readonly string[]> {
  const keys = await readKeys(config)
  return keys.length === 0 ? [] : createCipher({ keys, random: randomBytes }).keyIds
}

/**
 * Returns the sealing keys of this configuration and of the data folder's `keys/`. The first of them seals new values.
 * The list may be empty.
 * @throws AppError `settings_unreadable`
 */
export function readKeys({ dataDir, secretKey, oldSecretKeys }: SealingConfig): Promise<Buffer[]> {
  return readSealingKeys({ folder: join(dataDir, 'keys'), secretKey, oldSecretKeys })
}

function theKeys(ids: readonly string[]): string {
  const subject = ids.length === 1 ? 'the key' : 'the keys'
  return `${subject} ${ids.join(', ')}, not found in --secret-key, --old-secret-key or keys/`
}

/**
 * Returns a sentence for `/ready` if there are `problems`; otherwise undefined. The sentence names no key id, because a
 * key id lets a reader test guessed pass phrases.
 */
export async function sealProblemOf(stores: SealedStores): Promise<string | undefined> {
  const isFine = (await stores.problems()).length === 0
  return isFine ? undefined : 'Stored secrets cannot be opened: the log and "agent-server doctor" say why'
}

/** Logs the `problems` of the stores. Then adds the sealing key's id to `seals.json`, or logs why that failed. */
export async function checkSeals(stores: SealedStores, log: Log): Promise<void> {
  for (const problem of await stores.problems()) log.error('Stored secrets cannot be opened', { problem })
  await stores.noteKey().catch((thrown: unknown) => {
    log.warn('The sealing key could not be noted', { error: errorOf(thrown) })
  })
}
