/**
 * Tells a client that stores secrets which of them will not be masked everywhere (decisions 12). It uses a header,
 * because the contract defines the bodies of the responses.
 *
 * `X-Secret-Masking: PIN=whole-words, MODE=none` names the secrets that are masked as whole words only, and those
 * that are not masked at all; all others are masked in all their forms. Names are percent-encoded.
 */
import type { SecretSource } from '../schema/generated/secrets.ts'
import { isSealed } from '../settings/cipher.ts'
import { maskingOfSecret } from '../settings/masked-parts.ts'
import { isUnset } from '../settings/secret-values.ts'
import type { Call } from './call.ts'

const header = 'X-Secret-Masking'
/** The most secrets that are named, and the longest name. */
const namedLimit = 50
const nameLimitChars = 200

/** Adds the header if one of the secrets belongs in it. Secrets that are sealed or looked up are left out. */
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
