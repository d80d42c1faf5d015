/**
 * The files of a data folder that hold sealed values, as stores, and whether the keys at hand open them.
 *
 * The server works with the stores; `doctor` and `verify` open the same ones to look, and change nothing. A store that cannot
 * be read refuses by itself what needs it: here that is said before anybody asks.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AppError, messageOf } from './base/errors.ts'
import { isThere } from './base/json-file.ts'
import { silentLog, type Log } from './base/log.ts'
import { createMasker, type Masker } from './base/masking.ts'
import { whyNotMasked } from './base/masking-values.ts'
import type { Config } from './config.ts'
import type { Part } from './part.ts'
import { isLoaderVariable } from './base/loader-variable.ts'
import { changeLog } from './settings/change-log.ts'
import { createCipher, type Cipher } from './settings/cipher.ts'
import { readSealingKeys } from './settings/keys.ts'
import { maskingOfSecret } from './settings/masked-parts.ts'
import { createProfileStore, type ProfileStore } from './settings/profiles.ts'
import type { Provider } from './settings/provider.ts'
import { readSeals, sealsFile, writeSeals } from './settings/seals.ts'
import { createSecretStore, type SecretStore } from './settings/secrets.ts'
import { createSettingsStore, type SettingsStore } from './settings/store.ts'
import type { SealedFile } from './settings/sealed-file.ts'

export interface SealedStores {
  readonly settings: SettingsStore
  readonly profiles: ProfileStore
  readonly secrets: SecretStore
  /** Those of parts, as far as they are there. */
  partFiles(): Promise<readonly SealedFile[]>
  /** What the keys at hand do not open, or what cannot be read at all, in a sentence each. */
  problems(): Promise<readonly string[]>
  /** The ids of keys that something may be sealed with, as noted. @throws AppError `settings_unreadable` */
  notedKeys(): Promise<readonly string[]>
  /** Notes the key that seals from now on. @throws AppError `settings_unreadable`, `storage_full`, `storage_failed` */
  noteKey(): Promise<void>
}

export interface SealedStoresOptions {
  readonly dataDir: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly providers: readonly Provider[]
  readonly parts: readonly Part[]
  /** Told of every change, by name. */
  readonly log: Log
}

export function openSealedStores({ dataDir, cipher, masker, providers, parts: allParts, log }: SealedStoresOptions): SealedStores {
  const parts = (file: string, what: string) => ({ path: join(dataDir, file), cipher, masker, onChange: changeLog(log, `${what} were changed`) })
  const profiles = createProfileStore(parts('profiles.json', 'LLM profiles'))
  const settings = createSettingsStore({ ...parts('settings.json', 'Settings'), providers, loadProfile: profiles.load })
  const secrets = createSecretStore({ ...parts('secrets.json', 'Secrets'), isLoaderVariable })
  const partFiles = async (): Promise<readonly SealedFile[]> => {
    const files: SealedFile[] = []
    for (const { sealedFile } of allParts) {
      const path = join(dataDir, sealedFile?.name ?? '')
      if (sealedFile !== undefined && await isThere(path)) files.push((await sealedFile.load())({ path, cipher, masker }))
    }
    return files
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

/** What is needed of a configuration to open what it has sealed. */
export type SealingConfig = Pick<Config, 'dataDir' | 'secretKey' | 'oldSecretKeys'>

/**
 * What the keys of this configuration do not open in the data folder, in a sentence each. Changes nothing, makes no key, and
 * can be asked beside a server.
 */
export async function inspectSealed(config: SealingConfig, parts: readonly Part[]): Promise<readonly string[]> {
  try {
    return await (await openToLook(config, parts)).problems()
  } catch (thrown) {
    if (thrown instanceof AppError) return [messageOf(thrown)]
    throw thrown
  }
}

/** Global secrets that are not hidden everywhere, in a sentence each; none where they cannot be read. Changes nothing. */
export async function inspectMasking(config: SealingConfig): Promise<readonly string[]> {
  try {
    const { secrets } = await openToLook(config, [])
    return [...await secrets.values()].flatMap(([name, value]) => describeMasking(name, value))
  } catch (thrown) {
    if (thrown instanceof AppError) return []
    throw thrown
  }
}

async function openToLook(config: SealingConfig, parts: readonly Part[]): Promise<SealedStores> {
  const keys = await readKeys(config)
  // Without any key nothing was sealed here, or nothing can be opened: then one that opens nothing.
  const cipher = createCipher({ keys: keys.length === 0 ? [randomBytes(32)] : keys, random: randomBytes })
  return openSealedStores({ dataDir: config.dataDir, cipher, masker: createMasker(), providers: [], parts, log: silentLog })
}

function describeMasking(name: string, value: string): string[] {
  const masking = maskingOfSecret(value)
  if (masking === 'everywhere') return []
  return [masking === 'none' ? `${name} is not hidden: it ${whyNotMasked(value) ?? 'has no part that is secret by nature'}` : `${name} is hidden as a whole word only`]
}

/** The ids of the keys of this configuration, those in `keys/` included. @throws AppError `settings_unreadable` */
export async function readKeyIds(config: SealingConfig): Promise<readonly string[]> {
  const keys = await readKeys(config)
  return keys.length === 0 ? [] : createCipher({ keys, random: randomBytes }).keyIds
}

/** The keys of this configuration, the sealing one first; none where none was made yet. @throws AppError `settings_unreadable` */
export function readKeys({ dataDir, secretKey, oldSecretKeys }: SealingConfig): Promise<Buffer[]> {
  return readSealingKeys({ folder: join(dataDir, 'keys'), secretKey, oldSecretKeys })
}

function theKeys(ids: readonly string[]): string {
  return `the ${ids.length === 1 ? 'key' : 'keys'} ${ids.join(', ')}, not among those given (--secret-key, --old-secret-key, keys/)`
}
