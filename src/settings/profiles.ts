/**
 * Stores the LLM profiles: named LLM configurations with their keys (contract/settings.md, section 7).
 *
 * The file is `profiles.json`, with sealed secrets. A profile that is invalid or does not open (decrypt) is not listed,
 * and cannot be used until it is replaced, or until a server has its sealing key.
 */
import { AppError, type Issue } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Masker } from '../base/masking.ts'
import { isProfileName, type LLM } from '../schema/generated/llm.ts'
import {
  isLlmProfile, toLlmProfile, type LlmProfile, type ProfileDetail, type ProfileSummary,
} from '../schema/generated/profiles.ts'
import { readSecret } from './agent-settings.ts'
import type { TellChange } from './change-log.ts'
import type { Cipher } from './cipher.ts'
import { exposeSecrets, type ExposeMode } from './expose.ts'
import { keysOfTokens } from './key-ids.ts'
import { createMaskedValues } from './masked-values.ts'
import { providerName, providerOf } from './model-home.ts'
import { mapSecrets, openSecrets, sealSecrets, secretsToMask } from './secret-fields.ts'
import type { SecretMap } from './secret-source.ts'
import { isUnset } from './secret-values.ts'
import { createStoredFile, type Changes, type StoredFile } from './stored-file.ts'

/**
 * Each method throws AppError `settings_unreadable` for an unreadable file. A method that writes also throws
 * `storage_full`, `storage_failed`, and `unavailable` after `Changes.close`. After an error, the old profiles stay.
 */
export interface ProfileStore {
  /** Lists the readable profiles, sorted by name. */
  list(): Promise<ProfileSummary[]>
  /** Returns a view of a profile. @throws AppError `not_found`, `bad_request` for an unreadable profile */
  view(name: string, mode: ExposeMode): Promise<ProfileDetail>
  /**
   * Returns the LLM with plain secrets.
   * @throws the errors of `view`; AppError `invalid_input` if the provider connection is missing or does not fit the
   * model
   */
  load(name: string): Promise<LLM>
  /** Adds or replaces a profile. @throws AppError `conflict` at the limit, `invalid_input` for a bad name or content */
  save(name: string, profile: NewProfile): Promise<void>
  /** Renames a profile. @throws AppError `not_found`, `conflict` when another profile has the new name */
  rename(name: string, newName: string): Promise<void>
  /** Removes a profile. Does nothing for an unknown name. */
  delete(name: string): Promise<void>
  /** Returns the profiles whose sealing keys this server lacks, each with the ids of these keys. */
  unopened(): Promise<readonly UnopenedProfile[]>
  /** Seals the secrets in the file again with the sealing key. An unreadable profile stays as it is. */
  reseal(): Promise<void>
}

export interface UnopenedProfile {
  readonly name: string
  readonly keys: readonly string[]
}

export interface NewProfile {
  /** The LLM. Its secrets are plain texts or sealed tokens. */
  readonly llm: LLM
  readonly include_secrets: boolean
}

/** The credentials of a provider connection. They replace the key and the address of a profile. */
export interface ProviderCredentials extends Pick<LLM, 'base_url'> {
  readonly api_key: string
  /** The provider that the key was given for; `custom` when the client named none. */
  readonly provider: string
}

/** Returns the credentials of a provider connection; undefined when it does not exist. */
export type FindConnection = (id: string) => Promise<ProviderCredentials | undefined>

export interface ProfileStoreOptions {
  /** Finds a provider connection. By default, there is none. */
  readonly findConnection?: FindConnection
  readonly onChange?: TellChange
  readonly changes?: Changes
  /** The path of `profiles.json` in the data folder. */
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly profileLimit?: number
  /** The most characters of one profile as JSON. Default: 262,144. */
  readonly limitChars?: number
}

/** A profile with plain secrets, or the stored value of an unreadable profile. */
type Entry = { readonly profile: LlmProfile } | { readonly unread: unknown }
type Entries = ReadonlyMap<string, Entry>

const version = 1
const type = 'LlmProfile'

export function createProfileStore(options: ProfileStoreOptions): ProfileStore {
  const { cipher, masker, profileLimit = 50, limitChars = 262_144 } = options
  const connectionOf = connectionsFor(options)
  const setMasked = createMaskedValues(masker)
  const mask = (name: string, profile: LlmProfile): void => setMasked(name, secretsToMask(type, profile))
  const file = storedProfiles(options, mask)

  return {
    async list() {
      const all = [...(await file.read())]
      const entries = all.flatMap(([name, entry]) => ('profile' in entry ? [{ name, profile: entry.profile }] : []))
      entries.sort((one, other) => (one.name < other.name ? -1 : 1))
      return Promise.all(entries.map(async ({ name, profile }) => {
        return summary(name, profile, await connectionOf(profile), cipher)
      }))
    },
    async view(name, mode) {
      const profile = profileNamed(await file.read(), name)
      const isSet = hasKey(profile) || (await connectionOf(profile)) !== undefined
      return { name, config: shown(profile, mode, cipher), api_key_set: isSet }
    },
    load: async (name) => withConnection(name, profileNamed(await file.read(), name), connectionOf),
    async save(name, given) {
      assertProfileName(name, ['name'])
      const profile = { llm: withoutOwnKey(plainLlm(given, cipher)) }
      if (JSON.stringify(profile).length > limitChars) {
        throw refusedProfile('invalid_input', name, `at most ${limitChars} characters of JSON`)
      }
      await file.update((entries) => {
        if (!entries.has(name) && entries.size >= profileLimit) {
          throw refusedProfile('conflict', name, `at most ${profileLimit} profiles`)
        }
        mask(name, profile)
        return new Map(entries).set(name, { profile })
      })
    },
    async rename(name, newName) {
      await file.update((entries) => {
        const next = renamed(entries, name, newName)
        const entry = next.get(newName)
        if (entry !== undefined && 'profile' in entry) mask(newName, entry.profile)
        return next
      })
    },
    async delete(name) {
      await file.update((entries) => {
        if (!entries.has(name)) return entries
        setMasked(name, [])
        return new Map([...entries].filter(([other]) => other !== name))
      })
    },
    async unopened() {
      const keysIn = (entry: Entry): string[] => ('unread' in entry ? [...keysOfTokens(entry.unread)] : [])
      return [...(await file.read())].map(([name, entry]) => ({ name, keys: keysIn(entry) }))
        .map(({ name, keys }) => ({ name, keys: keys.filter((id) => !cipher.keyIds.includes(id)) }))
        .filter(({ keys }) => keys.length > 0)
    },
    reseal: () => file.rewrite(),
  }
}

type ConnectionOf = (profile: LlmProfile) => Promise<ProviderCredentials | undefined>

function connectionsFor({ findConnection }: ProfileStoreOptions): ConnectionOf {
  return async ({ llm: { provider_connection_id: id } }) => (id === null ? undefined : findConnection?.(id))
}

/**
 * Returns the LLM of a profile, with the credentials of its provider connection if it names one.
 * @throws AppError `invalid_input` for an unusable connection
 */
async function withConnection(name: string, profile: LlmProfile, connectionOf: ConnectionOf): Promise<LLM> {
  if (profile.llm.provider_connection_id === null) return profile.llm
  const connection = await connectionOf(profile)
  if (connection === undefined) throw unusable(name, 'its provider connection does not exist')
  const { provider, ...credentials } = connection
  if (fits(profile.llm, connection)) return { ...profile.llm, ...credentials }
  throw unusable(name, `the key of its provider connection is for "${provider}", not for "${profile.llm.model}"`)
}

/** True if a connection may serve a model: it has an address, the provider `custom`, or the provider of the model. */
function fits({ model }: LLM, { provider, base_url }: ProviderCredentials): boolean {
  const name = providerName(provider)
  return Boolean(base_url) || name === 'custom' || name === providerOf(model)
}

function unusable(name: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot use the profile "${name}": ${why}`)
}

function storedProfiles(
  { path, cipher, onChange, changes }: ProfileStoreOptions, mask: (name: string, profile: LlmProfile) => void,
): StoredFile<Entries> {
  return createStoredFile<Entries>({
    onChange,
    changes,
    path,
    version,
    keyIds: cipher.keyIds,
    initial: () => new Map(),
    encode(entries) {
      const profiles = [...entries].map(([name, entry]) => [name, encode(entry, cipher)] as const)
      return { profiles: Object.fromEntries(profiles) }
    },
    decode({ profiles }) {
      if (!isObject(profiles)) throw new TypeError('Expected profiles')
      return new Map(Object.entries(profiles).map(([name, stored]) => [name, decode(name, stored, cipher)]))
    },
    mask(entries) {
      for (const [name, entry] of entries) if ('profile' in entry) mask(name, entry.profile)
    },
  })
}

/**
 * Returns the LLM of a request with plain secrets. Leaves the secrets out if `include_secrets` is false.
 * @throws AppError `invalid_input` for a token that does not open
 */
export function plainLlm({ llm, include_secrets: withSecrets }: NewProfile, cipher: Cipher): LLM {
  const plain: SecretMap = (secret, path) => (withSecrets ? readSecret(secret, path, cipher) : undefined)
  return typed(mapSecrets(type, { llm }, plain)).llm
}

/** Returns an LLM without its key and address if it names a provider connection, which replaces both. */
function withoutOwnKey(llm: LLM): LLM {
  return llm.provider_connection_id === null ? llm : { ...llm, api_key: null, base_url: null }
}

function refusedProfile(code: 'invalid_input' | 'conflict', name: string, expected: string): AppError {
  return new AppError(code, `Cannot store the profile "${name}": expected ${expected}`)
}

/** Checks the name of a profile. @param loc the place of the name in the request @throws AppError `invalid_input` */
export function assertProfileName(name: string, loc: Issue['loc']): void {
  if (isProfileName(name)) return
  const msg = 'Value error, expected a letter or a digit, then up to 63 letters, digits, dots, dashes or underscores'
  throw new AppError('invalid_input', 'The request is not valid', {
    issues: [{ type: 'value_error', loc, msg, input: name }],
  })
}

export function profileNotFound(name: string): AppError {
  return new AppError('not_found', `Profile "${name}" not found`)
}

function profileNamed(entries: Entries, name: string): LlmProfile {
  const entry = entries.get(name)
  if (entry === undefined) throw profileNotFound(name)
  if ('profile' in entry) return entry.profile
  const why = 'its stored content is no profile, or was sealed with another key'
  throw new AppError('bad_request', `Cannot read the profile "${name}": ${why}; replace or remove it`)
}

function renamed(entries: Entries, name: string, newName: string): Entries {
  const entry = entries.get(name)
  if (entry === undefined) throw profileNotFound(name)
  if (name === newName) return entries
  const problem = `the name "${newName}" is taken`
  if (entries.has(newName)) throw new AppError('conflict', `Cannot rename the profile "${name}": ${problem}`)
  return new Map([...entries].map(([other, kept]) => [other === name ? newName : other, kept]))
}

/** Summarises a profile. Redacts the base URL as a whole if it has credentials. */
function summary(
  name: string, profile: LlmProfile, connection: ProviderCredentials | undefined, cipher: Cipher,
): ProfileSummary {
  const { model, base_url, provider_connection_id } = shown(profile, 'redacted', cipher)
  const isUsable = connection !== undefined && fits(profile.llm, connection)
  const provider_connection_broken = provider_connection_id !== null && !isUsable
  const api_key_set = hasKey(profile) || connection !== undefined
  return { name, model, base_url, provider_connection_id, provider_connection_broken, api_key_set }
}

function hasKey({ llm }: LlmProfile): boolean {
  return !isUnset(llm.api_key ?? '')
}

/** Returns the LLM of a profile in the view `mode`. In the view `redacted`, its key is null. */
function shown(profile: LlmProfile, mode: ExposeMode, cipher: Cipher): LLM {
  const { llm } = typed(exposeSecrets(type, profile, mode, cipher))
  return mode === 'redacted' ? { ...llm, api_key: null } : llm
}
function encode(entry: Entry, cipher: Cipher): unknown {
  return 'profile' in entry ? sealSecrets(type, entry.profile, cipher) : entry.unread
}

function decode(name: string, stored: unknown, cipher: Cipher): Entry {
  const plain = openSecrets(type, stored, cipher)
  return isProfileName(name) && isLlmProfile(plain) ? { profile: toLlmProfile(plain) } : { unread: stored }
}

function typed(value: unknown): LlmProfile {
  if (!isLlmProfile(value)) throw new TypeError('A profile does not fit its schema with other secrets')
  return toLlmProfile(value)
}
