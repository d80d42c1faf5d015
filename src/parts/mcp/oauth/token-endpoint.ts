/**
 * The token endpoint (RFC 6749, sections 4.1.3, 5 and 6; RFC 8707, section 2.2): exchanges a code or a refresh token
 * for tokens.
 *
 * Requests are not repeated, because a code or a refresh token may be valid only once. Error descriptions of the
 * endpoint are not shown, because they may quote the request.
 */
import { AppError } from '../../../base/errors.ts'
import { numberOf, textOf, type Fields } from '../../../base/fields.ts'
import { errorCode } from './authorization.ts'
import type { OAuthClient } from './client-registration.ts'
import { fetchDocument, type Reach } from './documents.ts'

export interface TokenPlace {
  readonly endpoint: URL
  readonly client: OAuthClient
  readonly resource: string
}

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scope: string | undefined
  readonly lifeMs: number | undefined
}

/** The error when a grant or client is refused for good, or a login cannot be renewed: only a new sign-in can help. */
export class GrantRefusedError extends AppError {}

export interface CodeGrant {
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

/** Exchanges a code for tokens. @throws AppError, or the signal's reason */
export function exchangeCode(
  place: TokenPlace, { code, verifier, redirectUri }: CodeGrant, reach: Reach,
): Promise<Tokens> {
  return ask(
    place, { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }, reach,
  )
}

/** Exchanges a refresh token for new tokens. @throws GrantRefusedError, AppError, or the signal's reason */
export function refreshTokens(place: TokenPlace, refreshToken: string, reach: Reach): Promise<Tokens> {
  return ask(place, { grant_type: 'refresh_token', refresh_token: refreshToken }, reach)
}

async function ask(
  { endpoint: url, client, resource }: TokenPlace, grant: Readonly<Record<string, string>>, reach: Reach,
): Promise<Tokens> {
  const proof = proofOf(client)
  const body = new URLSearchParams({ ...grant, ...proof.members, resource }).toString()
  const headers = { ...proof.headers, 'content-type': 'application/x-www-form-urlencoded' }
  const { status, fields = {} } = await fetchDocument({ method: 'POST', url, headers, body }, reach)
  if (status === 200) return tokensIn(fields)
  const said = `Could not sign in: the token endpoint says ${errorCode(fields['error'])} (status ${status})`
  const isOver =
    fields['error'] === 'invalid_grant' || fields['error'] === 'invalid_client' ||
    fields['error'] === 'unauthorized_client'
  throw isOver ? new GrantRefusedError('upstream_failed', said) : new AppError('upstream_failed', said)
}

interface Proof {
  readonly headers: Readonly<Record<string, string>>
  readonly members: Readonly<Record<string, string>>
}

/** Returns the client's authentication. In a header, id and secret are form-encoded (RFC 6749, section 2.3.1). */
function proofOf({ id, secret = '', method }: OAuthClient): Proof {
  if (method === 'none') return { headers: {}, members: { client_id: id } }
  if (method === 'client_secret_post') return { headers: {}, members: { client_id: id, client_secret: secret } }
  const pair = `${formEncoded(id)}:${formEncoded(secret)}`
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, members: {} }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}

function tokensIn(fields: Fields): Tokens {
  const { access_token: accessToken, token_type: type } = fields
  if (!isToken(accessToken) || typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    throw new AppError('upstream_failed', 'Could not sign in: the token endpoint gave no bearer token')
  }
  const { refresh_token: refreshToken } = fields
  const seconds = numberOf(fields['expires_in']) ?? numberOf(Number(textOf(fields['expires_in'])))
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    scope: textOf(fields['scope']),
    lifeMs: seconds === undefined || seconds <= 0 ? undefined : seconds * 1000,
  }
}

/** True for a token that fits in a header and is long enough to be masked. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{8,16384}$/.test(value)
}
