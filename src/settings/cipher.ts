/**
 * Seals secret values with AES-256-GCM (NIST SP 800-38D) for the files and for the `encrypted` view of the settings.
 *
 * A token is `as1:`, the id of its key, `:`, and in base64url the 12 random bytes of the nonce, the ciphertext and the
 * 16 bytes of the tag. Its context (which field it belongs to) and its key's id are authenticated: a token that was
 * moved to another field does not open. The first key seals, every key opens, so keys can be rotated. Random nonces
 * are safe for 2^32 values under one key (section 8.3), far more than a server of settings ever seals.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import type { RandomBytes } from '../base/stamp.ts'

export interface Cipher {
  /** Of its keys, the one that seals first; see `keyOfToken`. */
  readonly keyIds: readonly string[]
  /** The context is a field path or a name, never a secret. */
  seal(value: string, context: string): string
  /** The value, or undefined when no key opens the token or the context is another. */
  open(token: string, context: string): string | undefined
  /** The same text has the same one as long as the first key is the same: 32 hex digits that tell nothing to who has not the key. */
  fingerprint(text: string): string
}

export interface CipherOptions {
  /** 32 bytes each; the first one seals. */
  readonly keys: readonly Buffer[]
  readonly random: RandomBytes
}

const prefix = 'as1:'
const nonceBytes = 12
const tagBytes = 16

/** `as1:`, 8 hex digits, `:`, base64url */
const tokenShape = /^as1:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/

export function createCipher({ keys, random }: CipherOptions): Cipher {
  const keyById = new Map([...keys].reverse().map((key) => [keyId(key), key]))
  const [current] = keys
  if (current === undefined) throw new RangeError('Cannot make a cipher: expected at least one key')
  const currentId = keyId(current)

  return {
    keyIds: [...new Set(keys.map(keyId))],
    seal(value, context) {
      const nonce = random(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', current, nonce, { authTagLength: tagBytes })
      cipher.setAAD(additionalData(currentId, context))
      const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${prefix}${currentId}:${sealed.toString('base64url')}`
    },
    open(token, context) {
      const [, id = '', body = ''] = tokenShape.exec(token) ?? []
      const key = keyById.get(id)
      const sealed = Buffer.from(body, 'base64url')
      // Node ignores left-over bits in base64url: a token has one spelling only.
      const isCanonical = sealed.toString('base64url') === body
      if (key === undefined || !isCanonical || sealed.length < nonceBytes + tagBytes) return undefined
      return decrypt(key, sealed, additionalData(id, context))
    },
    fingerprint: (text) => createHmac('sha256', current).update('agent-server fingerprint\0').update(text).digest('hex').slice(0, 32),
  }
}

/** True for what claims to be a token. No secret that begins like this is ever stored as a plain value. */
export function isToken(text: string): boolean {
  return text.startsWith(prefix)
}

/** The id of the key that a token says it was sealed with; undefined for what is no token. */
export function keyOfToken(text: string): string | undefined {
  return tokenShape.exec(text)?.[1]
}

function decrypt(key: Buffer, sealed: Buffer, data: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(data)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const opened = decipher.update(sealed.subarray(nonceBytes, -tagBytes))
  try {
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    // The tag does not fit: damaged, or of another context.
    return undefined
  }
}

/** Names a key without telling anything about it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('agent-server key id\0').update(key).digest('hex').slice(0, 8)
}

function additionalData(id: string, context: string): Buffer {
  return Buffer.from(`${prefix}${id}\0${context}`)
}
