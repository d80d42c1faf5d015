/** Random secrets of the console, and the digests by which they are kept and compared. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Returns 256 random bits as text that needs no escape in an address or a cookie. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the SHA-256 digest in base64url. */
export function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}

/** Compares digests in constant time. */
export function isSameDigest(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
