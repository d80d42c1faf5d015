/**
 * A login: tokens for one MCP server, with the data needed to renew them, and its form in settings
 * (contract/settings.md, section 3.1, `auth.state`).
 */
import { memberAt, numberOf, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import { isMethod, type OAuthClient } from './client-registration.ts'
import { isWithin } from './discovery.ts'
import type { Tokens } from './token-endpoint.ts'

export interface Login {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scope: string | undefined
  /** The expiry in milliseconds since the epoch; undefined if unknown. */
  readonly expiresAt: number | undefined
  /** The time of the token response, in milliseconds since the epoch; 0 if unknown. `newest` compares this time. */
  readonly obtainedAt: number
  readonly source: LoginSource | undefined
}

/** The authorization server and the OAuth client of the sign-in. A renewal uses both again. */
export interface LoginSource {
  readonly issuer: string
  readonly endpoint: string
  readonly resource: string
  readonly client: OAuthClient
}

/**
 * Returns the login from a token response. A refresh token or a scope that the response lacks is taken from `previous`
 * (RFC 6749, section 6).
 */
export function loginFrom(tokens: Tokens, source: LoginSource, now: number, previous?: Login): Login {
  const { accessToken, refreshToken = previous?.refreshToken, scope = previous?.scope, lifeMs } = tokens
  const expiresAt = lifeMs === undefined ? undefined : now + lifeMs
  return { accessToken, refreshToken, scope, expiresAt, obtainedAt: now, source }
}

/**
 * Returns the login as `auth.state` of the settings. `isCredentialName` (settings/secret-values) must recognize the
 * names of the secret members, so that the settings seal and redact them.
 */
export function stateOf({ accessToken, refreshToken, scope, expiresAt, obtainedAt, source }: Login): Fields {
  return withoutGaps({
    tokens: withoutGaps({
      access_token: accessToken,
      token_type: 'Bearer',
      refresh_token: refreshToken,
      scope,
      obtained_at: obtainedAt / 1000,
    }),
    client_info: source === undefined ? undefined : withoutGaps({
      client_id: source.client.id,
      client_secret: source.client.secret,
      method: source.client.method,
      issuer: source.issuer,
      endpoint: source.endpoint,
      resource: source.resource,
    }),
    token_expires_at: expiresAt === undefined ? undefined : expiresAt / 1000,
  })
}

/** Returns the login in an `auth.state`; undefined without a token, or when the token is for another server. */
export function loginOf(state: unknown, serverUrl: string): Login | undefined {
  const { tokens, client_info: info, token_expires_at: expiresAt } = objectOf(state)
  const accessToken = textOf(memberAt(tokens, 'access_token'))
  const source = sourceOf(objectOf(info))
  if (accessToken === undefined || source !== undefined && !isWithin(serverUrl, source.resource)) return undefined
  return {
    accessToken,
    refreshToken: textOf(memberAt(tokens, 'refresh_token')),
    scope: textOf(memberAt(tokens, 'scope')),
    expiresAt: milliseconds(expiresAt),
    obtainedAt: milliseconds(memberAt(tokens, 'obtained_at')) ?? 0,
    source,
  }
}

function sourceOf(info: Fields): LoginSource | undefined {
  const names = ['client_id', 'issuer', 'endpoint', 'resource']
  const [id, issuer, endpoint, resource] = names.map((name) => textOf(info[name]))
  const { method } = info
  if (id === undefined || issuer === undefined || endpoint === undefined || resource === undefined) return undefined
  if (!isMethod(method)) return undefined
  return { issuer, endpoint, resource, client: { id, secret: textOf(info['client_secret']), method } }
}

function milliseconds(seconds: unknown): number | undefined {
  const value = numberOf(seconds)
  return value === undefined ? undefined : Math.round(value * 1000)
}

function withoutGaps(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
