/**
 * Tells whether a value is worth masking, and defines the placeholder of a secret (contract/settings.md, sections 2.10
 * and 6; decisions 12).
 */
import { addressSecrets } from '../base/secret-address.ts'
import { isSealed } from './cipher.ts'

/** Shown in place of a secret in a redacted view. Never saved as a value. */
export const redactedValue = '**********'

/** True for a text without a value: empty, blank, or the redacted value. */
export function isUnset(value: string): boolean {
  return value.trim() === '' || value.trim() === redactedValue
}

/** True for an address with credentials, and for its placeholders: a sealed token or the redacted value. */
export function isSecretAddress(value: string): boolean {
  return value.trim() === redactedValue || isSealed(value) || addressSecrets(value).length > 0
}

/** True if the name of a variable, header or member says that its value is a credential. */
export function isCredentialName(name: string): boolean {
  return /authorization|cookie|token|key|secret|password|credential/i.test(name)
}

/**
 * Matches values that do not look like a secret: one or two words, a short number, a media type, a path, or a plain
 * http(s) address.
 */
const ordinary =
  /^(?:[a-z]+(?:[-_. ][a-z]+)?|\d{1,7}|[a-z]+\/[a-z0-9.+-]+|[~.]?\/[\w./-]*|https?:\/\/[\w.:-]+(?:\/[\w./-]*)?)$/i

/**
 * True if a secret value must be masked in texts: the name of its member, such as a header, is a credential's name, or
 * the value is not `ordinary`. Masking an ordinary value such as `production` or `8080` would damage texts.
 */
export function isWorthMasking(name: string, value: string): boolean {
  return isCredentialName(name) || !ordinary.test(value)
}
