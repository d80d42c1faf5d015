/**
 * The server's own keys: the sealing key for secret values, and the session key that clients send.
 *
 * A key that is neither configured nor stored in the folder `keys/` is created there. An unreadable key file is not
 * replaced, because no new key could open the values that a lost key has sealed.
 */
import { scrypt } from 'node:crypto'
import { join } from 'node:path'
import { othersMay } from '../base/file-mode.ts'
import { writeJsonFile } from '../base/json-file.ts'
import { chmod, failsAsStorage, makeFolder, ownFolder, storageError } from '../base/own-files.ts'
import { stat } from '../base/read-files.ts'
import type { RandomBytes } from '../base/stamp.ts'
import { readVersioned, unreadable } from './stored-file.ts'

export interface KeyOptions {
  /** The `keys/` folder. Created with the first key. */
  readonly folder: string
  readonly random: RandomBytes
}

export interface ConfiguredKeys {
  /** The configured sealing key; if it is undefined, the newest key in `keys/` seals. */
  readonly secretKey: string | undefined
  /** Earlier sealing keys, which only open values. */
  readonly oldSecretKeys: readonly string[]
}

export type SealingKeyOptions = KeyOptions & ConfiguredKeys

const sealingFile = 'sealing.json'
const sessionFile = 'session.json'
const keyBytes = 32
const version = 1

/**
 * Returns the keys for `createCipher`, the sealing key first. Creates a key if neither `secretKey` nor `keys/` has one.
 * @throws AppError `settings_unreadable` for an unreadable key file, `storage_full`, `storage_failed`
 */
export async function loadSealingKeys(options: SealingKeyOptions): Promise<Buffer[]> {
  const { folder, random, secretKey } = options
  const stored = await readStoredKeys(folder)
  if (stored.length > 0) await restrict(folder, join(folder, sealingFile))
  if (stored.length > 0 || secretKey !== undefined) return inOrder(options, stored)
  const key = random(keyBytes)
  await writeStored(folder, sealingFile, { key: key.toString('base64url') })
  return inOrder(options, [key])
}

/**
 * Returns the keys as `loadSealingKeys` does, but creates no key and changes no file. The list may be empty.
 * @throws AppError `settings_unreadable`
 */
export async function readSealingKeys({ folder, ...configured }: Omit<SealingKeyOptions, 'random'>): Promise<Buffer[]> {
  return inOrder(configured, await readStoredKeys(folder))
}

/**
 * Creates a new sealing key in `keys/`. The earlier keys stay there and still open values.
 * @throws the errors of `loadSealingKeys`
 */
export async function rotateStoredKey({ folder, random }: KeyOptions): Promise<void> {
  const before = await readStoredKeys(folder)
  const [key = '', ...old_keys] = [random(keyBytes), ...before].map((one) => one.toString('base64url'))
  await writeStored(folder, sealingFile, { key, ...(old_keys.length === 0 ? {} : { old_keys }) })
}

/** Returns the configured and the stored keys, the sealing key first. */
async function inOrder({ secretKey, oldSecretKeys }: ConfiguredKeys, stored: readonly Buffer[]): Promise<Buffer[]> {
  const old = await Promise.all(oldSecretKeys.map(deriveKey))
  return secretKey === undefined ? [...stored, ...old] : [await deriveKey(secretKey), ...old, ...stored]
}

export interface SessionKey {
  readonly key: string
  readonly path: string
  /** True when this call of `loadSessionKey` created the key. */
  readonly made: boolean
}

/** Returns the session key in `keys/`, and creates it if needed. @throws the errors of `loadSealingKeys` */
export async function loadSessionKey({ folder, random }: KeyOptions): Promise<SessionKey> {
  const path = join(folder, sessionFile)
  const stored = await readStored(folder, sessionFile, 'session_api_key')
  if (stored !== undefined) {
    await restrict(folder, path)
    return { key: stored, path, made: false }
  }
  const key = random(keyBytes).toString('base64url')
  await writeStored(folder, sessionFile, { session_api_key: key })
  return { key, path, made: true }
}

/** Returns the session key in `keys/`; undefined without a key file. @throws AppError `settings_unreadable` */
export function readSessionKey(folder: string): Promise<string | undefined> {
  return readStored(folder, sessionFile, 'session_api_key')
}

export function sessionKeyPath(folder: string): string {
  return join(folder, sessionFile)
}

export interface ExposedKey {
  readonly path: string
  /** The rights of other users on the file or folder. A user who may write a key file can choose the key. */
  readonly othersMay: 'write' | 'read'
  readonly mode: number
}

/** Lists the folder `keys/` and its two key files, without the paths that other users can neither read nor write. */
export async function exposedKeys(folder: string): Promise<ExposedKey[]> {
  const paths = [folder, join(folder, sealingFile), join(folder, sessionFile)]
  const found = await Promise.all(paths.map(async (path) => {
    const mode = await stat(path).then((stats) => stats.mode, () => 0) // A missing or unreachable file is left out.
    const others = othersMay(mode)
    return others === 'nothing' ? [] : [{ path, othersMay: others, mode }]
  }))
  return found.flat()
}

/**
 * Derives a key with scrypt (RFC 7914), because an operator may type a pass phrase. The salt is fixed, so that the same
 * configuration gives the same key.
 */
function deriveKey(secretKey: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secretKey, 'agent-server sealing key 1', keyBytes, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

const keyShape = /^[A-Za-z0-9_-]{43}$/

async function readStored(folder: string, file: string, member: string): Promise<string | undefined> {
  const path = join(folder, file)
  const content = await readVersioned(path, version)
  return content === undefined ? undefined : keyIn(path, content[member], member)
}

/** Reads the keys in `keys/sealing.json`, newest first. */
async function readStoredKeys(folder: string): Promise<Buffer[]> {
  const path = join(folder, sealingFile)
  const content = await readVersioned(path, version)
  if (content === undefined) return []
  const { key, old_keys: old = [] } = content
  if (!Array.isArray(old)) throw unreadable(path, '"old_keys" is not a list')
  const texts = [keyIn(path, key, 'key'), ...old.map((one) => keyIn(path, one, 'old_keys'))]
  return texts.map((text) => Buffer.from(text, 'base64url'))
}

function keyIn(path: string, key: unknown, member: string): string {
  if (typeof key === 'string' && keyShape.test(key)) return key
  throw unreadable(path, `"${member}" is not 43 base64url characters`)
}

async function writeStored(folder: string, file: string, members: Readonly<Record<string, unknown>>): Promise<void> {
  await failsAsStorage('Cannot make the folder of keys', () => makeFolder(folder, ownFolder))
  const path = join(folder, file)
  await writeJsonFile(path, { version, ...members })
  await restrict(folder, path)
}

/** Sets the modes 0700 and 0600 of the folder and the key file: a copy of the folder may have other modes. */
async function restrict(folder: string, path: string): Promise<void> {
  try {
    await chmod(folder, 0o700)
    await chmod(path, 0o600)
  } catch (thrown) {
    throw storageError('Cannot make the keys private', thrown)
  }
}
