/**
 * Stores provider connections in `provider-connections.json`. A provider connection has an API key and an address, and
 * LLM profiles refer to it by its id (contract/settings.md, section 9).
 *
 * The key is encrypted in the file, masked in logs and outputs, and absent from responses. An address with credentials
 * is encrypted in the file and redacted in responses.
 */
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { Clock } from '../../base/stamp.ts'
import type { ProviderCredentials } from '../../settings/profiles.ts'
import {
  isProviderConnection, toProviderConnection, ProviderConnection, type NewProviderConnection,
  type ProviderConnectionChange, type ProviderConnectionView,
} from './generated.ts'
import { readSecret } from '../../settings/agent-settings.ts'
import type { Cipher } from '../../settings/cipher.ts'
import { exposeSecrets } from '../../settings/expose.ts'
import { createMaskedValues } from '../../settings/masked-values.ts'
import type { OpenSealedFile, SealedFileOptions } from '../../settings/sealed-file.ts'
import { mapSecrets, sealSecrets, secretsToMask } from '../../settings/secret-fields.ts'
import { createStoredFile, type StoredFile } from '../../settings/stored-file.ts'

/**
 * Each method can throw AppError `settings_unreadable`. A method that changes data can also throw `storage_full` and
 * `storage_failed`.
 */
export interface ProviderConnectionStore {
  /** Lists the connections, the oldest first. */
  list(): Promise<readonly ProviderConnectionView[]>
  /** Returns the credentials of a connection; undefined when it does not exist. */
  find(id: string): Promise<ProviderCredentials | undefined>
  /** Adds a connection. @throws AppError `conflict` when there are 64 already, `invalid_input` for an unusable key */
  add(given: NewProviderConnection): Promise<ProviderConnectionView>
  /** Changes a connection. @throws AppError `not_found`, `invalid_input` */
  change(id: string, change: ProviderConnectionChange): Promise<ProviderConnectionView>
  /**
   * Calls `assertUnused`, then removes a connection and returns its last state with `api_key_set: false`.
   * @throws AppError `not_found`, and the errors of `assertUnused`
   */
  remove(id: string, assertUnused: () => Promise<void>): Promise<ProviderConnectionView>
}

export interface ConnectionStoreOptions extends SealedFileOptions {
  readonly clock: Clock
  /** Creates an id of 32 hex digits. */
  readonly createId: () => string
}

type Connections = ReadonlyMap<string, ProviderConnection>

const version = 1
const connectionLimit = 64

/** Opens the file of connections for code that treats all files with encrypted values alike (`sealing-keys reseal`). */
export const openSealedConnections: OpenSealedFile = (options) => storedConnections(options).file

export function createConnectionStore(options: ConnectionStoreOptions): ProviderConnectionStore {
  const { cipher, clock, createId } = options
  const { file, setMasked } = storedConnections(options)
  const now = (): number => Math.floor(clock() / 1000)
  const view = (connection: ProviderConnection): ProviderConnectionView => viewOf(connection, cipher)
  const store = async (connection: ProviderConnection, current: Connections): Promise<Connections> => {
    setMasked(connection)
    return new Map(current).set(connection.id, connection)
  }
  return {
    list: async () => [...(await file.read()).values()].map(view),
    async find(id) {
      const connection = (await file.read()).get(id)
      if (connection === undefined) return undefined
      const { api_key, base_url, provider } = connection
      return { api_key, base_url, provider }
    },
    async add(given) {
      const connection = plain({ ...given, id: createId(), created_at: now(), updated_at: now() }, cipher)
      await file.update((current) => {
        if (current.size < connectionLimit) return store(connection, current)
        const limit = `Provider connection limit reached (${connectionLimit})`
        throw new AppError('conflict', `${limit}. Delete one before adding another.`)
      })
      return view(connection)
    },
    async change(id, change) {
      const after = await file.update((current) => {
        return store(plain({ ...connectionWithId(current, id), ...change, updated_at: now() }, cipher), current)
      })
      return view(connectionWithId(after, id))
    },
    async remove(id, assertUnused) {
      let removed: ProviderConnectionView | undefined
      await file.update(async (current) => {
        removed = view(connectionWithId(current, id))
        await assertUnused()
        return new Map([...current].filter(([other]) => other !== id))
      })
      if (removed === undefined) throw notFound(id)
      return { ...removed, api_key_set: false }
    },
  }
}

function storedConnections({ path, cipher, masker, onChange }: SealedFileOptions): {
  readonly file: StoredFile<Connections>
  readonly setMasked: (connection: ProviderConnection) => void
} {
  const masked = createMaskedValues(masker)
  const setMasked = (connection: ProviderConnection): void => {
    masked(connection.id, secretsToMask(ProviderConnection, connection))
  }
  const file = createStoredFile<Connections>({
    onChange,
    path,
    version,
    keyIds: cipher.keyIds,
    initial: () => new Map(),
    encode: (connections) => ({
      connections: [...connections.values()].map((one) => sealSecrets(ProviderConnection, one, cipher)),
    }),
    decode({ connections }) {
      if (!Array.isArray(connections)) throw new TypeError('Expected connections')
      const opened = connections.map((stored) => plain(stored, cipher))
      return new Map(opened.map((connection) => [connection.id, connection]))
    },
    mask: (connections) => connections.forEach((connection) => setMasked(connection)),
  })
  return { file, setMasked }
}

/**
 * Returns the connection with its secrets in plain text.
 * @throws AppError `invalid_input` for a missing key, an unreadable secret, and a value that does not fit the schema
 */
function plain(value: unknown, cipher: Cipher): ProviderConnection {
  const opened = mapSecrets(ProviderConnection, value, (secret, path) => readSecret(secret, path, cipher))
  if (isProviderConnection(opened)) return toProviderConnection(opened)
  const key = isObject(opened) ? opened['api_key'] : undefined
  const why = key === undefined || key === null ? 'expected a key' : 'it does not fit'
  throw new AppError('invalid_input', `Cannot use the provider connection: ${why}`)
}

function viewOf(connection: ProviderConnection, cipher: Cipher): ProviderConnectionView {
  const shown = exposeSecrets(ProviderConnection, connection, 'redacted', cipher)
  if (!isProviderConnection(shown)) throw new TypeError('A connection does not fit its schema without its secrets')
  const { api_key: _key, ...rest } = toProviderConnection(shown)
  return { ...rest, api_key_set: true }
}

function connectionWithId(connections: Connections, id: string): ProviderConnection {
  const connection = connections.get(id)
  if (connection === undefined) throw notFound(id)
  return connection
}

function notFound(id: string): AppError {
  return new AppError('not_found', `Provider connection '${id}' not found`)
}
