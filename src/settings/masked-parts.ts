/**
 * What must not show of a secret value: the value, or of a credential file the parts that are secret by nature.
 *
 * A credential file in JSON also holds what is no secret, such as a type, a project or addresses, and hiding that would
 * mangle other texts. Of any text of several lines those that look like nothing but a key are found alone too, because it
 * is shown in parts: the first lines, matches with names of files, a difference. Pure; decisions 12.
 */
import { isObject, parseJson } from '../base/json.ts'
import { maskingOf, type Masking } from '../base/masking-values.ts'
import { addressSecrets } from '../base/secret-address.ts'

/** The texts to hide, whole and in parts. */
export function maskedParts(value: string): string[] {
  const json = jsonIn(value)
  if (json === undefined) return [value, ...addressSecrets(value), ...secretLines(value)]
  const found = membersOf(json, false)
  return found.length === 0 ? [value] : found.flatMap((text) => [text, ...addressSecrets(text), ...secretLines(text)])
}

/** How a value as a whole is hidden: as what is hidden best of it. */
export function maskingOfSecret(value: string): Masking {
  const parts = maskedParts(value).map(maskingOf)
  return (['everywhere', 'whole words'] as const).find((masking) => parts.includes(masking)) ?? 'none'
}

/** True for the name of a member of a credential file whose value is secret by nature. */
export function isSecretMember(name: string): boolean {
  return secretName.test(name) && !descriptiveName.test(name)
}

const secretName = /token|secret|passw|passphrase|pwd|credential|cookie|authorization|bearer|signature|apikey|key$|key_?data$|keys$|^auths?$|^jwt$|^pat$|^d$|^pin$/i
/** What is said of a secret, and not the secret: its id, its type, where it is renewed, how long it lasts. */
const descriptiveName = /public_?key$|(?:^|[_-])(?:ids?|uris?|urls?|type|expiry|expires(?:_?(?:at|in))?|endpoint|host|path|file|names?|scopes?|alg|version|count|method)$|(?:Id|Ids|Uri|Url|Type|Expiry|ExpiresAt|ExpiresIn|Endpoint|Path|File|Name|Scope|Scopes|Version)$/

/** The object or array that a value is; undefined for any other text. */
export function jsonIn(value: string): unknown {
  if (!/^\s*[[{]/.test(value)) return undefined
  try {
    return parseJson(value)
  } catch {
    return undefined
  }
}

/** `isSecret`: the name of what holds the value says so. Elements of an array without a name are secret as the array is. */
function membersOf(value: unknown, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret || looksSecret(value) ? [value] : []
  if (typeof value === 'number') return isSecret ? [String(value)] : []
  if (Array.isArray(value)) return value.flatMap((item: unknown) => membersOf(item, isSecret))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    return descriptiveName.test(name) ? membersIn(member) : membersOf(member, isSecret || isSecretMember(name))
  })
}

/** A member with a descriptive name is none, whatever it looks like; what is inside has names of its own. */
function membersIn(member: unknown): string[] {
  return typeof member === 'string' ? [] : membersOf(member, false)
}

/** A private key, a JSON Web Token, or letters of both cases and digits without a blank: nothing but a token looks so. */
function looksSecret(value: string): boolean {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value) || /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) return true
  return value.length >= 20 && /^[\w+/=~.-]+$/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
}

/** The lines of a text of several that look like a part of a key, and the values of those that name one. */
function secretLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/)
  return lines.length < 2 ? [] : lines.flatMap((line) => secretIn(line.trim()))
}

/** [ "export" ] name ( "=" / ":" ) value, with or without quotation marks */
const assignment = /^(?:export\s+)?["']?([\w.-]{1,128})["']?\s*[:=]\s*["']?([^]+?)["']?,?$/

function secretIn(line: string): string[] {
  if (line.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(line) && /[\d+/]/.test(line) && /[A-Za-z]/.test(line)) return [line]
  const [, name, value] = assignment.exec(line) ?? []
  if (name === undefined || value === undefined || value.length < 8) return []
  return isSecretMember(name) || looksSecret(value) ? [value] : []
}
