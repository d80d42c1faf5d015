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

export interface SealingKeyOptions extends KeyOptions {
  /** From the configuration, newest first: the first seals, the others only open what they sealed. */
  readonly secretKeys?: readonly string[]
}

const sealingFile = 'sealing.json'
const sessionFile = 'session.json'
const keyBytes = 32
/** Both files begin with this member. */
const version = 1

/**
 * The keys for `createCipher`, the sealing one first. A configured key goes before the one in `keys/`, which still
 * opens what was sealed before there was a configured one.
 * @throws AppError `settings_unreadable` when the key file is there but broken.
 */
export async function loadSealingKeys({ folder, random, secretKeys = [] }: SealingKeyOptions): Promise<Buffer[]> {
  const configured = await Promise.all(secretKeys.map(deriveKey))
  const stored = await readStored(folder, sealingFile, 'key')
  if (stored !== undefined) return [...configured, Buffer.from(stored, 'base64url')]
  if (configured.length > 0) return configured
  const key = random(keyBytes)
  await writeStored(folder, sealingFile, 'key', key.toString('base64url'))
  return [key]
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
  if (stored !== undefined) return { key: stored, path, made: false }
  const key = random(keyBytes).toString('base64url')
  await writeStored(folder, sessionFile, 'session_api_key', key)
  return { key, path, made: true }
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
  if (content === undefined) return undefined
  const key = content[member]
  if (typeof key !== 'string' || !keyShape.test(key)) {
    throw unreadable(path, `"${member}" is not 43 base64url characters`)
  }
  await restrict(folder, path)
  return key
}

async function writeStored(folder: string, file: string, member: string, key: string): Promise<void> {
  await makeFolder(folder, ownFolder)
  const path = join(folder, file)
  await writeJsonFile(path, { version, [member]: key })
  await restrict(folder, path)
}

/** A copied or restored folder may have lost its modes. */
async function restrict(folder: string, path: string): Promise<void> {
  await chmod(folder, 0o700)
  await chmod(path, 0o600)
}
