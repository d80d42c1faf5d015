/**
 * Stores the global secrets: named values that become environment variables of the agents (contract/spec:
 * "Global secret"; contract/settings.md, section 6; decisions 12).
 *
 * The file is `secrets.json`, with sealed values. A value is registered with the masker before it can be read.
 */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Masker } from '../base/masking.ts'
import type { TellChange } from './change-log.ts'
import { isSealed, type Cipher } from './cipher.ts'
import { createMaskedValues, type MaskedValues } from './masked-values.ts'
import { maskedParts } from './masked-parts.ts'
import { isUnset } from './secret-values.ts'
import { createStoredFile, readVersioned, type Changes, type StoredFile } from './stored-file.ts'

export interface SecretSummary {
  readonly name: string
  readonly description: string | null
}

export interface NewSecret {
  readonly name: string
  /** An empty, blank or redacted text means that the secret has no value: null is stored. */
  readonly value: string
  readonly description?: string | null | undefined
}

/** Each method can throw AppError `settings_unreadable`, and a writing method the errors of `StoredFile.update`. */
export interface SecretStore {
  /** Lists names and descriptions, sorted by name, never values. */
  list(): Promise<SecretSummary[]>
  /** Adds or replaces a secret. @throws AppError `invalid_input` for a name or value that is refused, or at a limit. */
  put(secret: NewSecret): Promise<SecretSummary>
  /** Returns a secret's value. @throws AppError `not_found` if it has none, `invalid_input` for an invalid name */
  get(name: string): Promise<string>
  /**
   * Replaces the value of a secret if it still is `expected`. Returns true when the stored value is now `value`.
   * @throws AppError `invalid_input`, as `put`
   */
  replace(name: string, expected: string, value: string): Promise<boolean>
  /** Removes a secret. @throws AppError `not_found`, `invalid_input` for a name that is not allowed. */
  delete(name: string): Promise<void>
  /** Returns all values by name, without the secrets that have no value. */
  values(): Promise<ReadonlyMap<string, string>>
  /** Seals every secret in the file again with the sealing key. */
  reseal(): Promise<void>
}

export interface SecretStoreOptions {
  readonly onChange?: TellChange
  readonly changes?: Changes
  /** The path of `secrets.json` in the data folder. */
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  /** True for a variable that changes how programs load: `LD_PRELOAD`, for example. `put` and `replace` refuse it. */
  readonly isLoaderVariable: (name: string) => boolean
  readonly secretLimit?: number
  readonly valueLimitChars?: number
}

interface Entry {
  readonly value: string | null
  readonly description: string | null
}
type Entries = ReadonlyMap<string, Entry>

const version = 1

const nameShape = /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/

export function createSecretStore(options: SecretStoreOptions): SecretStore {
  const { masker, secretLimit = 1000 } = options
  const setMasked = createMaskedValues(masker)
  const file = storedSecrets(options, setMasked)

  return {
    async list() {
      return summariesOf(await file.read())
    },
    async put(secret) {
      assertAllowed(secret, options)
      const { name, description = null } = secret
      const value = isUnset(secret.value) ? null : secret.value
      await file.update((entries) => {
        const isFull = !entries.has(name) && entries.size >= secretLimit
        if (isFull) throw invalid(`Cannot store more than ${secretLimit} secrets`)
        setMasked(name, listOf(value))
        return new Map(entries).set(name, { value, description })
      })
      return { name, description }
    },
    async get(name) {
      assertName(name)
      const value = (await file.read()).get(name)?.value ?? null
      if (value === null) throw notFound()
      return value
    },
    async replace(name, expected, value) {
      assertAllowed({ name, value }, options)
      const entries = await file.update((current) => {
        const entry = current.get(name)
        if (entry?.value !== expected) return current
        setMasked(name, listOf(value))
        return new Map(current).set(name, { ...entry, value })
      })
      return entries.get(name)?.value === value
    },
    async delete(name) {
      assertName(name)
      await file.update((entries) => {
        const rest = without(entries, name)
        setMasked(name, [])
        return rest
      })
    },
    async values() {
      return valuesOf(await file.read())
    },
    reseal: () => file.rewrite(),
  }
}

function storedSecrets(options: SecretStoreOptions, setMasked: MaskedValues): StoredFile<Entries> {
  const { path, cipher, onChange, changes } = options
  return createStoredFile<Entries>({
    path,
    version,
    onChange,
    changes,
    keyIds: cipher.keyIds,
    initial: () => new Map(),
    encode: (entries) => encode(entries, cipher),
    decode: (content) => decode(content, cipher),
    mask: (entries) => entries.forEach(({ value }, name) => setMasked(name, listOf(value))),
  })
}

function summariesOf(entries: Entries): SecretSummary[] {
  const summaries = [...entries].map(([name, { description }]) => ({ name, description }))
  return summaries.sort((one, other) => (one.name < other.name ? -1 : 1))
}

function valuesOf(entries: Entries): ReadonlyMap<string, string> {
  return new Map([...entries].flatMap(([name, { value }]) => (value === null ? [] : [[name, value] as const])))
}

function without(entries: Entries, name: string): Entries {
  const rest = new Map(entries)
  if (!rest.delete(name)) throw notFound()
  return rest
}

/** Lists the names of a file's secrets that have a value. Opens no value. @throws AppError `settings_unreadable` */
export async function listSecretNames(path: string): Promise<string[]> {
  const content = await readVersioned(path, version)
  const secrets = isObject(content?.['secrets']) ? content['secrets'] : {}
  return Object.entries(secrets).flatMap(([name, entry]) => (isObject(entry) && entry['value'] !== null ? [name] : []))
}

function assertAllowed({ name, value }: NewSecret, options: SecretStoreOptions): void {
  assertName(name)
  const problem = problemOf(name, value, options)
  if (problem !== undefined) throw invalid(`Cannot store the secret "${name}": ${problem}`)
}

function problemOf(name: string, value: string, options: SecretStoreOptions): string | undefined {
  const { isLoaderVariable, valueLimitChars = 65_536 } = options
  if (isLoaderVariable(name)) return 'a variable of this name changes how programs load'
  if (value.length > valueLimitChars) return `expected at most ${valueLimitChars} characters`
  if (value.includes('\0')) return 'expected a value without NUL characters'
  return undefined
}

function assertName(name: string): void {
  if (nameShape.test(name)) return
  throw invalid('Invalid secret name: expected a letter, then up to 63 letters, digits or underscores')
}

function invalid(message: string): AppError {
  return new AppError('invalid_input', message)
}

function notFound(): AppError {
  return new AppError('not_found', 'Secret not found')
}

function listOf(value: string | null): string[] {
  return value === null ? [] : maskedParts(value)
}

function encode(entries: Entries, cipher: Cipher): Record<string, unknown> {
  const secrets = [...entries].map(([name, { value, description }]) => {
    return [name, { value: value === null ? null : cipher.seal(value, contextOf(name)), description }] as const
  })
  return { secrets: Object.fromEntries(secrets) }
}

function decode(content: Readonly<Record<string, unknown>>, cipher: Cipher): Entries {
  const { secrets } = content
  if (!isObject(secrets)) throw new TypeError('Expected secrets')
  return new Map(Object.entries(secrets).map(([name, entry]) => [name, decodeEntry(name, entry, cipher)]))
}

function decodeEntry(name: string, entry: unknown, cipher: Cipher): Entry {
  if (!nameShape.test(name) || !isObject(entry)) throw new TypeError('Expected an entry by name')
  const { value: token, description } = entry
  // A plain value was written by hand. It is sealed when the file is next written.
  const value = typeof token === 'string' && isSealed(token) ? cipher.open(token, contextOf(name)) : token
  if (typeof value !== 'string' && value !== null) throw new TypeError('Expected a value, or a token that opens')
  if (typeof description !== 'string' && description !== null) throw new TypeError('Expected a description')
  return { value, description }
}

/** Returns the context for sealing a secret. A token opens only with its context, so it opens under no other name. */
function contextOf(name: string): string {
  return `secrets.${name}`
}
