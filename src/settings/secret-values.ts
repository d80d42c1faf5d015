/**
 * What may be the value of a secret, and what stands for one in a view.
 *
 * Rules: contract/settings.md 2.10 and 6; decisions 12. Pure; nothing here is stored or masked.
 */
import { addressSecrets } from '../base/secret-address.ts'
import { isToken } from './cipher.ts'

/** What a redacted view shows in the place of a secret. Never saved as a value. */
export const redactedValue = '**********'

/** True for what a client sends when it has no value: nothing, blanks, or a redacted value sent back. */
export function isUnset(value: string): boolean {
  return value.trim() === '' || value.trim() === redactedValue
}

/** True for an address that carries credentials, and for what stands for one: a sealed token, or what a view shows. */
export function isSecretAddress(value: string): boolean {
  return value.trim() === redactedValue || isToken(value) || addressSecrets(value).length > 0
}

/** True for the name of a variable, header or member that says its value is a credential. */
export function isCredentialName(name: string): boolean {
  return /authorization|cookie|token|key|secret|password|credential/i.test(name)
}

/** one or two words without digits, a short number, a media type, an absolute path, an address without user, query and fragment */
const ordinary =
  /^(?:[a-z]+(?:[-_. ][a-z]+)?|\d{1,7}|[a-z]+\/[a-z0-9.+-]+|[~.]?\/[\w./-]*|https?:\/\/[\w.:-]+(?:\/[\w./-]*)?)$/i

/**
 * Whether a value of a secret map (variables or headers of an MCP server, say) has to be hidden in texts. All of them
 * are sealed and redacted, but hiding every `production`, `8080` or `application/json` would only mangle what agents
 * write. Three words and more are a pass phrase.
 */
export function isWorthMasking(name: string, value: string): boolean {
  return isCredentialName(name) || !ordinary.test(value)
}
