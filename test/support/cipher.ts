/** A cipher with a key that everyone knows, for tests of code that seals. */
import { randomBytes } from 'node:crypto'
import { createCipher, type Cipher } from '../../src/settings/cipher.ts'

export function testCipher(fill = 1): Cipher {
  return createCipher({ keys: [Buffer.alloc(32, fill)], random: randomBytes })
}
