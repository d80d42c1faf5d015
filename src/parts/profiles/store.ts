/**
 * Stores agent profiles in `agent-profiles.json` (contract/settings.md, section 8).
 *
 * Credentials in a critic's URL are encrypted in the file, and redacted in responses. A stored profile that cannot be
 * read is not listed and not used. Such a profile stays unchanged until a client replaces or removes it.
 */
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { AgentProfile, isAgentProfile, toAgentProfile } from './generated.ts'
import { isProfileName } from '../../schema/generated/llm.ts'
import { readSecret } from '../../settings/agent-settings.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { exposeSecrets } from '../../settings/expose.ts'
import { createMaskedValues } from '../../settings/masked-values.ts'
import type { OpenSealedFile, SealedFile, SealedFileOptions } from '../../settings/sealed-file.ts'
import { mapSecrets, openSecrets, sealSecrets, secretsToMask } from '../../settings/secret-fields.ts'
import { createStoredFile, type StoredFile } from '../../settings/stored-file.ts'

/** A profile in the store, with plain secrets. */
export type StoredProfile = AgentProfile & { readonly id: string; readonly name: string; readonly revision: number }

/**
 * Each method can throw AppError `settings_unreadable`. A method that changes data can also throw `storage_full` and
 * `storage_failed`.
 */
export interface AgentProfileStore {
  /** Lists the readable profiles in the order of their names. */
  list(): Promise<readonly StoredProfile[]>
  /** Returns true when no profile is stored, not even an unreadable profile. */
  isEmpty(): Promise<boolean>
  /** Returns a profile. @throws AppError `not_found`, `bad_request` for an unreadable profile */
  get(name: string): Promise<StoredProfile>
  /** Adds or replaces a profile. @throws AppError `conflict` above 50 profiles, `invalid_input` for bad content */
  save(name: string, given: AgentProfile): Promise<StoredProfile>
  /** Renames a profile. @throws the errors of `get`; AppError `conflict` when the new name is taken */
  rename(name: string, newName: string): Promise<void>
  /** Removes a profile, readable or not. Returns its id; undefined for an unreadable or missing profile. */
  delete(name: string): Promise<string | undefined>
  /** Changes the name of an LLM profile in the agent profiles that refer to it. */
  renameLlmProfile(name: string, newName: string): Promise<void>
}

export interface AgentProfileStoreOptions extends SealedFileOptions {
  readonly createId: () => string
}

type Entry = { readonly profile: StoredProfile } | { readonly unread: unknown }
type Entries = ReadonlyMap<string, Entry>

const version = 1
const profileLimit = 50
const limitChars = 262_144

/** Opens the file of profiles for code that treats all files with encrypted values alike (`sealing-keys reseal`). */
export const openSealedProfiles: OpenSealedFile = (options): SealedFile => storedProfiles(options).file

export function createAgentProfileStore(options: AgentProfileStoreOptions): AgentProfileStore {
  const { cipher, createId } = options
  const { file, mask } = storedProfiles(options)
  return {
    async list() {
      const profiles = [...(await file.read()).values()].flatMap((entry) => ('profile' in entry ? [entry.profile] : []))
      return profiles.sort((one, other) => (one.name < other.name ? -1 : 1))
    },
    isEmpty: async () => (await file.read()).size === 0,
    get: async (name) => profileNamed(await file.read(), name),
    async save(name, given) {
      const plain = plainProfile(given, cipher)
      const entries = await file.update((current) => {
        const known = current.get(name)
        const former = known !== undefined && 'profile' in known ? known.profile : undefined
        const [id, revision] = former === undefined ? [createId(), 0] : [former.id, former.revision + 1]
        const profile = { ...plain, id, name, revision, schema_version: 2 }
        assertFits(profile, known === undefined ? current.size + 1 : current.size)
        mask(profile)
        return new Map(current).set(name, { profile })
      })
      return profileNamed(entries, name)
    },
    async rename(name, newName) {
      await file.update((current) => {
        const { ...profile } = profileNamed(current, name)
        if (name === newName) return current
        if (current.has(newName)) throw refused('conflict', `Agent profile "${newName}" already exists`)
        const rest = [...current].filter(([other]) => other !== name)
        return new Map([...rest, [newName, { profile: { ...profile, name: newName } }]])
      })
    },
    async delete(name) {
      let id: string | undefined
      await file.update((current) => {
        const entry = current.get(name)
        if (entry === undefined) return current
        if ('profile' in entry) id = entry.profile.id
        return new Map([...current].filter(([other]) => other !== name))
      })
      return id
    },
    async renameLlmProfile(name, newName) {
      await file.update((current) => {
        const next = [...current].map(([key, entry]) => [key, referringTo(entry, name, newName)] as const)
        return next.every(([key, entry]) => entry === current.get(key)) ? current : new Map(next)
      })
    },
  }
}

/** Returns the name of the LLM profile that a profile refers to; null for an external agent. */
export function llmProfileOf(profile: AgentProfile): string | null {
  return profile.agent_kind === 'openhands' ? profile.llm_profile_ref : null
}

export function shownProfile(profile: StoredProfile, cipher: Cipher): unknown {
  return exposeSecrets(AgentProfile, profile, 'redacted', cipher)
}

export function profileNotFound(what: string): AppError {
  return new AppError('not_found', `Agent profile ${what} not found`)
}

interface Stored {
  readonly file: StoredFile<Entries>
  readonly mask: (profile: StoredProfile) => void
}

function storedProfiles({ path, cipher, masker, onChange }: SealedFileOptions): Stored {
  const setMasked = createMaskedValues(masker)
  const mask = (profile: StoredProfile): void => setMasked(profile.id, secretsToMask(AgentProfile, profile))
  const file = createStoredFile<Entries>({
    onChange,
    path,
    version,
    keyIds: cipher.keyIds,
    initial: () => new Map(),
    encode: (entries) => ({
      profiles: Object.fromEntries([...entries].map(([name, entry]) => [name, encode(entry, cipher)])),
    }),
    decode({ profiles }) {
      if (!isObject(profiles)) throw new TypeError('Expected profiles')
      return new Map(Object.entries(profiles).map(([name, stored]) => [name, decode(name, stored, cipher)]))
    },
    mask(entries) {
      for (const entry of entries.values()) if ('profile' in entry) mask(entry.profile)
    },
  })
  return { file, mask }
}

/** Decrypts encrypted secrets in a client's profile, and leaves out unset secrets. @throws AppError `invalid_input` */
function plainProfile(given: AgentProfile, cipher: Cipher): AgentProfile {
  const plain = mapSecrets(AgentProfile, given, (secret, path) => readSecret(secret, path, cipher))
  if (!isAgentProfile(plain)) throw new TypeError('A profile does not fit its schema with other secrets')
  return toAgentProfile(plain)
}

function assertFits(profile: StoredProfile, count: number): void {
  if (JSON.stringify(profile).length > limitChars) {
    const expected = `expected at most ${limitChars} characters of JSON`
    throw refused('invalid_input', `Cannot store the agent profile "${profile.name}": ${expected}`)
  }
  if (count <= profileLimit) return
  const advice = 'Delete a profile before saving a new one.'
  throw refused('conflict', `Agent profile limit reached (${profileLimit}). ${advice}`)
}

function profileNamed(entries: Entries, name: string): StoredProfile {
  const entry = entries.get(name)
  if (entry === undefined) throw profileNotFound(`"${name}"`)
  if ('profile' in entry) return entry.profile
  const why = 'its stored content is no profile, or was sealed with another key'
  throw refused('bad_request', `Cannot read the agent profile "${name}": ${why}; replace or remove it`)
}

/** Returns a copy that refers to `llm_profile_ref` if the entry refers to the LLM profile `name`, else the entry. */
function referringTo(entry: Entry, name: string, llm_profile_ref: string): Entry {
  if (!('profile' in entry) || llmProfileOf(entry.profile) !== name || name === llm_profile_ref) return entry
  const { profile } = entry
  if (profile.agent_kind !== 'openhands') return entry
  return { profile: { ...profile, llm_profile_ref, revision: profile.revision + 1 } }
}

function encode(entry: Entry, cipher: Cipher): unknown {
  return 'profile' in entry ? sealSecrets(AgentProfile, entry.profile, cipher) : entry.unread
}

function decode(name: string, stored: unknown, cipher: Cipher): Entry {
  const plain = openSecrets(AgentProfile, stored, cipher)
  if (!isProfileName(name) || !isAgentProfile(plain)) return { unread: stored }
  const { id, revision, ...profile } = toAgentProfile(plain)
  if (id === undefined || revision === undefined) return { unread: stored }
  return { profile: { ...profile, id, name, revision } }
}

function refused(code: 'bad_request' | 'conflict' | 'invalid_input', message: string): AppError {
  return new AppError(code, message)
}
