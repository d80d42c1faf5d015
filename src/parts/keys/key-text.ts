/**
 * The text of a named key, `ask_<id>_<256 random bits>`, and its digest.
 *
 * The server finds the stored digest by the id. The digest is a plain SHA-256: a slow hash is not needed, because 256
 * random bits cannot be guessed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const pattern = /^ask_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/

export function newKey(): { readonly id: string; readonly text: string } {
  const id = randomBytes(6).toString('hex')
  return { id, text: `ask_${id}_${randomBytes(32).toString('base64url')}` }
}

/** Returns the id in the text of a key; undefined for any other text. */
export function idIn(text: string): string | undefined {
  return pattern.exec(text)?.[1]
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Tells in constant time whether two digests are equal. */
export function isSameDigest(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
