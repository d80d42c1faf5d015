/**
 * Tells who stores secrets which of them will not be hidden everywhere (decisions 12): in a header, since the bodies of
 * these answers are the contract's.
 *
 * `X-Secret-Masking: PIN=whole-words, MODE=none` names those that are hidden as whole words only, and those that are not
 * hidden at all; what is not named is hidden in all its forms. Names are percent-encoded.
 */
import type { SecretSource } from '../schema/generated/secrets.ts'
import { isToken } from '../settings/cipher.ts'
import { maskingOfSecret } from '../settings/masked-parts.ts'
import { isUnset } from '../settings/secret-values.ts'
import type { Call } from './call.ts'

const header = 'X-Secret-Masking'
/** How many are named, and how long a name may be. */
const namedLimit = 50
const nameLimitChars = 200

/** Sealed and looked up values are not judged. */
export function tellMasking({ exchange }: Call, secrets: Readonly<Record<string, SecretSource>>): void {
  const told: string[] = []
  for (const [name, source] of Object.entries(secrets)) {
    const value = source.kind === 'StaticSecret' ? (source.value ?? '') : ''
    const masking = isUnset(value) || isToken(value) ? 'everywhere' : maskingOfSecret(value)
    if (masking === 'everywhere' || told.length === namedLimit) continue
    told.push(`${encodeURIComponent(Buffer.from(name.slice(0, nameLimitChars)).toString())}=${masking.replace(' ', '-')}`)
  }
  if (told.length > 0) exchange.headers.push(header, told.join(', '), 'Access-Control-Expose-Headers', header)
}
