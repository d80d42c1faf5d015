/**
 * Where the value of a conversation's secret comes from: given with the request, or looked up when it is needed
 * (contract/conversations.md 6). Pure: which parts of a source are secret themselves.
 */
import type { SecretSource } from '../schema/generated/secrets.ts'
import { isCredentialName, isSecretAddress, isUnset } from './secret-values.ts'

/** Gives what stands for a secret value, undefined for nothing. The context tells values of one source apart. */
export type SecretMap = (value: string, context: string) => string | undefined

/** The source with each of its secret values replaced; a value that becomes nothing is left out. */
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

/** The headers with those that carry credentials replaced, or left out where nothing is given. */
export function mapSecretHeaders(headers: Readonly<Record<string, string>>, map: SecretMap): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const mapped = isCredentialName(name) ? map(value, name) : value
    return mapped === undefined ? [] : [[name, mapped] as const]
  })
  return Object.fromEntries(entries)
}

/** What a client may send as a source: values that stand for nothing are left out (contract/tests.md, SDK: secrets). */
export function withoutUnset(source: SecretSource): SecretSource {
  return mapSourceSecrets(source, (value) => (isUnset(value) ? undefined : value))
}
