/**
 * Seals secret values with AES-256-GCM (NIST SP 800-38D).
 *
 * A sealed value is a token: `as1:`, the id of its key, `:`, and in base64url the nonce (12 bytes), the ciphertext and
 * the tag (16 bytes). A token opens only with the context that it was sealed with, such as a field path. The first key
 * seals, and each key opens its own tokens.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import type { RandomBytes } from '../base/stamp.ts'

export interface Cipher {
  /** The ids of the keys. The first id is that of the sealing key. */
  readonly keyIds: readonly string[]
  /** Seals a value. The context is a field path or a name, never a secret. */
  seal(value: string, context: string): string
  /** Returns the value; undefined when no key opens the token or the context differs. */
  open(token: string, context: string): string | undefined
  /** Returns 32 hex digits of an HMAC-SHA-256 of a fixed prefix and the text, with the first key. */
  fingerprint(text: string): string
}

export interface CipherOptions {
  /** Keys of 32 bytes. The first key seals. */
  readonly keys: readonly Buffer[]
  readonly random: RandomBytes
}

const prefix = 'as1:'
const nonceBytes = 12
const tagBytes = 16

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
      // Node ignores surplus bits in base64url, so several texts give the same bytes. Only the canonical text opens.
      const isCanonical = sealed.toString('base64url') === body
      if (key === undefined || !isCanonical || sealed.length < nonceBytes + tagBytes) return undefined
      return decrypt(key, sealed, additionalData(id, context))
    },
    fingerprint(text) {
      const hmac = createHmac('sha256', current).update('agent-server fingerprint\0')
      return hmac.update(text).digest('hex').slice(0, 32)
    },
  }
}

/** True for a text with the token prefix, also when the part after the prefix is damaged. */
export function isSealed(text: string): boolean {
  return text.startsWith(prefix)
}

/** Returns the id of the key that a token names; undefined for other texts. */
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
    // The tag does not fit: the token is damaged or belongs to another context.
    return undefined
  }
}

function keyId(key: Buffer): string {
  return createHash('sha256').update('agent-server key id\0').update(key).digest('hex').slice(0, 8)
}

function additionalData(id: string, context: string): Buffer {
  return Buffer.from(`${prefix}${id}\0${context}`)
}
