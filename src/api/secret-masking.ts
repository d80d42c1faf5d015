/**
 * Makes the response header that tells a client which of its stored secrets are not masked everywhere (decisions 12).
 *
 * `X-Secret-Masking: PIN=whole-words, MODE=none`: PIN is masked as a whole word only, MODE is not masked.
 */
import type { SecretSource } from '../schema/generated/secrets.ts'
import { isSealed } from '../settings/cipher.ts'
import { maskingOfSecret } from '../settings/masked-parts.ts'
import { isUnset } from '../settings/secret-values.ts'
import type { Call } from './call.ts'

const header = 'X-Secret-Masking'
/** The most secrets that `X-Secret-Masking` names, and the most characters of the name of each. */
const namedLimit = 50
const nameLimitChars = 200

/** Names in `X-Secret-Masking` secrets that are masked as whole words only, or not at all. Skips encrypted values. */
export function tellMasking({ exchange }: Call, secrets: Readonly<Record<string, SecretSource>>): void {
  const told: string[] = []
  for (const [name, source] of Object.entries(secrets)) {
    const value = source.kind === 'StaticSecret' ? (source.value ?? '') : ''
    const masking = isUnset(value) || isSealed(value) ? 'everywhere' : maskingOfSecret(value)
    if (masking === 'everywhere' || told.length === namedLimit) continue
    const shown = encodeURIComponent(Buffer.from(name.slice(0, nameLimitChars)).toString())
    told.push(`${shown}=${masking.replace(' ', '-')}`)
  }
  if (told.length > 0) exchange.headers.push(header, told.join(', '), 'Access-Control-Expose-Headers', header)
}
