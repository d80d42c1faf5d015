/**
 * The source of a conversation's secret: a value, or an address from which the value is fetched
 * (contract/conversations.md, section 6).
 */
import type { SecretSource } from '../schema/generated/secrets.ts'
import { isCredentialName, isSecretAddress, isUnset } from './secret-values.ts'

/**
 * Returns the replacement of a secret value. Returns undefined to leave the value out. `context` is the name or
 * the path of the value in the object that contains it.
 */
export type SecretMap = (value: string, context: string) => string | undefined

/**
 * Returns the source with its secrets replaced by the results of `map`. If `map` returns undefined, a value or a header
 * is removed, and an address becomes empty.
 */
export function mapSourceSecrets(source: SecretSource, map: SecretMap): SecretSource {
  if (source.kind === 'StaticSecret') {
    const { value, ...rest } = source
    const mapped = value === undefined ? undefined : map(value, 'value')
    return mapped === undefined ? rest : { ...rest, value: mapped }
  }
  const headers = mapSecretHeaders(source.headers, (value, name) => map(value, `headers.${name.toLowerCase()}`))
  const url = isSecretAddress(source.url) ? (map(source.url, 'url') ?? '') : source.url
  return { ...source, url, headers }
}

/** Returns headers with the values of credential headers replaced. A replacement by undefined removes the header. */
export function mapSecretHeaders(headers: Readonly<Record<string, string>>, map: SecretMap): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const mapped = isCredentialName(name) ? map(value, name) : value
    return mapped === undefined ? [] : [[name, mapped] as const]
  })
  return Object.fromEntries(entries)
}

/** Returns a client's source without secrets that are blank or redacted (contract/tests.md, "Secrets"). */
export function withoutUnset(source: SecretSource): SecretSource {
  return mapSourceSecrets(source, (value) => (isUnset(value) ? undefined : value))
}
