/**
 * Finds the texts to mask for a secret value (decisions 12).
 *
 * In JSON with secret members, only these members are masked: another member, such as a type, can be a common word. In
 * a text with several lines, each secret line is also masked by itself, because output may show single lines.
 */
import { isObject, parseJson } from '../base/json.ts'
import { maskingOf, type Masking } from '../base/masking-values.ts'
import { addressSecrets } from '../base/secret-address.ts'

/**
 * Returns the texts to mask: the value, its secret lines, and the credentials in an address. For JSON with secret
 * members, returns these texts of each secret member instead. For other JSON, returns only the whole value.
 */
export function maskedParts(value: string): string[] {
  const json = jsonIn(value)
  if (json === undefined) return [value, ...addressSecrets(value), ...secretLines(value)]
  const found = membersOf(json, false)
  return found.length === 0 ? [value] : found.flatMap((text) => [text, ...addressSecrets(text), ...secretLines(text)])
}

/** Returns the strongest masking of the texts from `maskedParts`: `everywhere`, else `whole words`, else `none`. */
export function maskingOfSecret(value: string): Masking {
  const parts = maskedParts(value).map(maskingOf)
  return (['everywhere', 'whole words'] as const).find((masking) => parts.includes(masking)) ?? 'none'
}

/** True if a member with this name has a secret value, for example in a credential file. */
export function isSecretMember(name: string): boolean {
  return secretName.test(name) && !descriptiveName.test(name)
}

const secretName = new RegExp([
  'token', 'secret', 'passw', 'passphrase', 'pwd', 'credential', 'cookie', 'authorization', 'bearer', 'signature',
  'apikey', 'key$', 'key_?data$', 'keys$', '^auths?$', '^jwt$', '^pat$', '^d$', '^pin$',
].join('|'), 'i')
/** Matches names of members that are not secret, such as a public key, ids, addresses and lifetimes. */
const descriptiveName = new RegExp([
  /public_?key$/,
  /(?:^|[_-])(?:ids?|uris?|urls?|type|expiry|expires(?:_?(?:at|in))?|endpoint|host|path|file)$/,
  /(?:^|[_-])(?:names?|scopes?|alg|version|count|method)$/,
  /(?:Id|Ids|Uri|Url|Type|Expiry|ExpiresAt|ExpiresIn|Endpoint|Path|File|Name|Scope|Scopes|Version)$/,
].map(({ source }) => source).join('|'))

/** Parses a value that is a JSON object or array; undefined for any other text. */
export function jsonIn(value: string): unknown {
  if (!/^\s*[[{]/.test(value)) return undefined
  try {
    return parseJson(value)
  } catch {
    return undefined // Not valid JSON: treated as text.
  }
}

/** Returns the secret texts in a JSON value. `isSecret` is true inside a member with a secret name. */
function membersOf(value: unknown, isSecret: boolean): string[] {
  if (typeof value === 'string') return isSecret || looksSecret(value) ? [value] : []
  if (typeof value === 'number') return isSecret ? [String(value)] : []
  if (Array.isArray(value)) return value.flatMap((item: unknown) => membersOf(item, isSecret))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    return descriptiveName.test(name) ? membersIn(member) : membersOf(member, isSecret || isSecretMember(name))
  })
}

/** Returns the secret texts in a member whose name matches `descriptiveName`. A member that is a text has none. */
function membersIn(member: unknown): string[] {
  return typeof member === 'string' ? [] : membersOf(member, false)
}

/** True for a private key, a JSON Web Token, or a word of at least 20 characters with digits and both cases. */
function looksSecret(value: string): boolean {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value) || /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) return true
  const hasAllKinds = /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
  return value.length >= 20 && /^[\w+/=~.-]+$/.test(value) && hasAllKinds
}

/** Returns lines that look like a key, and secret values in lines such as `TOKEN=...`; none for a text of one line. */
function secretLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/)
  return lines.length < 2 ? [] : lines.flatMap((line) => secretIn(line.trim()))
}

/** Matches [ "export" ] name ( "=" / ":" ) value [ "," ]; the name and the value may have quotation marks. */
const assignment = /^(?:export\s+)?["']?([\w.-]{1,128})["']?\s*[:=]\s*["']?([^]+?)["']?,?$/

function secretIn(line: string): string[] {
  const looksLikeKey = /^[A-Za-z0-9+/_-]+={0,2}$/.test(line) && /[\d+/]/.test(line) && /[A-Za-z]/.test(line)
  if (line.length >= 8 && looksLikeKey) return [line]
  const [, name, value] = assignment.exec(line) ?? []
  if (name === undefined || value === undefined || value.length < 8) return []
  return isSecretMember(name) || looksSecret(value) ? [value] : []
}
