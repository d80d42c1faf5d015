/**
 * The server's own keys: the one that seals secret values, and the session key that clients present.
 *
 * What the configuration does not give is made on first start and kept in the `keys/` folder (0700, files 0600), apart
 * from what it protects: a backup that leaves `keys/` out holds no readable secret. It is no protection against who
 * reads the whole data folder. A key file that cannot be read is refused, never replaced: what it sealed would be lost. One
 * that others could read is made private again; `exposedKeys` tells before that.
 */
import { scrypt } from 'node:crypto'
import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { othersMay } from '../base/file-mode.ts'
import { makeFolder, ownFolder, writeJsonFile } from '../base/json-file.ts'
import type { RandomBytes } from '../base/stamp.ts'
import { readVersioned, unreadable } from './stored-file.ts'

export interface KeyOptions {
  /** The `keys/` folder; made when a key is made. */
  readonly folder: string
  readonly random: RandomBytes
}

export interface ConfiguredKeys {
  /** Seals. Without it, the one in `keys/` does. */
  readonly secretKey: string | undefined
  /** Only open what they have sealed. */
  readonly oldSecretKeys: readonly string[]
}

export type SealingKeyOptions = KeyOptions & ConfiguredKeys

const sealingFile = 'sealing.json'
const sessionFile = 'session.json'
const keyBytes = 32
/** Both files begin with this member. */
const version = 1

/**
 * The keys for `createCipher`, the sealing one first. Where the configuration gives none to seal with, that is the one in
 * `keys/`, which is made if it is not there.
 * @throws AppError `settings_unreadable` when the key file is there but broken.
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

/** As `loadSealingKeys`, but changes nothing and makes none: there may be no key. @throws AppError `settings_unreadable` */
export async function readSealingKeys({ folder, ...configured }: Omit<SealingKeyOptions, 'random'>): Promise<Buffer[]> {
  return inOrder(configured, await readStoredKeys(folder))
}

/**
 * Makes a new key in `keys/` that seals from now on; the ones before it stay there and still open.
 * @throws AppError `settings_unreadable`, `storage_full`, `storage_failed`
 */
export async function rotateStoredKey({ folder, random }: KeyOptions): Promise<void> {
  const before = await readStoredKeys(folder)
  const [key = '', ...old_keys] = [random(keyBytes), ...before].map((one) => one.toString('base64url'))
  await writeStored(folder, sealingFile, { key, ...(old_keys.length === 0 ? {} : { old_keys }) })
}

/** The newest first. */
async function inOrder({ secretKey, oldSecretKeys }: ConfiguredKeys, stored: readonly Buffer[]): Promise<Buffer[]> {
  const old = await Promise.all(oldSecretKeys.map(deriveKey))
  return secretKey === undefined ? [...stored, ...old] : [await deriveKey(secretKey), ...old, ...stored]
}

export interface SessionKey {
  readonly key: string
  /** Where it is kept, for the line that the operator sees. */
  readonly path: string
  /** It was made just now. */
  readonly made: boolean
}

/**
 * The session key of this data folder, for when the configuration gives none.
 * @throws AppError `settings_unreadable` when the key file is there but broken.
 */
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

/** The session key of this data folder, undefined when none was made. Changes nothing. @throws AppError `settings_unreadable` */
export function readSessionKey(folder: string): Promise<string | undefined> {
  return readStored(folder, sessionFile, 'session_api_key')
}

/** Where the session key of a data folder is kept, once it was made. */
export function sessionKeyPath(folder: string): string {
  return join(folder, sessionFile)
}

export interface ExposedKey {
  readonly path: string
  /** Who may write a key chooses it. */
  readonly othersMay: 'write' | 'read'
  readonly mode: number
}

/** The files of a `keys/` folder, and the folder itself, that other users may use. Changes nothing. */
export async function exposedKeys(folder: string): Promise<ExposedKey[]> {
  const found = await Promise.all([folder, join(folder, sealingFile), join(folder, sessionFile)].map(async (path) => {
    const mode = await stat(path).then((stats) => stats.mode, () => 0)
    const others = othersMay(mode)
    return others === 'nothing' ? [] : [{ path, othersMay: others, mode }]
  }))
  return found.flat()
}

/**
 * scrypt (RFC 7914), because an operator may type a pass phrase. The salt is fixed: the same configuration has to give
 * the same key on every start, and there is nothing to store another one in that is not lost with the key.
 */
function deriveKey(secretKey: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(secretKey, 'agent-server sealing key 1', keyBytes, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

/** 32 bytes in base64url */
const keyShape = /^[A-Za-z0-9_-]{43}$/

async function readStored(folder: string, file: string, member: string): Promise<string | undefined> {
  const path = join(folder, file)
  const content = await readVersioned(path, version)
  return content === undefined ? undefined : keyIn(path, content[member], member)
}

/** Those in `keys/sealing.json`, newest first. */
async function readStoredKeys(folder: string): Promise<Buffer[]> {
  const path = join(folder, sealingFile)
  const content = await readVersioned(path, version)
  if (content === undefined) return []
  const { key, old_keys: old = [] } = content
  if (!Array.isArray(old)) throw unreadable(path, '"old_keys" is not a list')
  return [keyIn(path, key, 'key'), ...old.map((one) => keyIn(path, one, 'old_keys'))].map((text) => Buffer.from(text, 'base64url'))
}

function keyIn(path: string, key: unknown, member: string): string {
  if (typeof key === 'string' && keyShape.test(key)) return key
  throw unreadable(path, `"${member}" is not 43 base64url characters`)
}

async function writeStored(folder: string, file: string, members: Readonly<Record<string, unknown>>): Promise<void> {
  await makeFolder(folder, ownFolder)
  const path = join(folder, file)
  await writeJsonFile(path, { version, ...members })
  await restrict(folder, path)
}

/** A copied or restored folder may have lost its modes. */
async function restrict(folder: string, path: string): Promise<void> {
  await chmod(folder, 0o700)
  await chmod(path, 0o600)
}
