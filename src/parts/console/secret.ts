/** Random secrets of the console, and their digests. The server keeps and compares digests only. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Returns 256 random bits in base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the SHA-256 digest in base64url. */
export function digestOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url')
}

/** Tells in constant time whether two digests are equal. */
export function isSameDigest(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
