/**
 * One authorization request and its response (RFC 6749, sections 4.1.1 and 4.1.2; RFC 7636; RFC 8707; RFC 9207).
 *
 * The code in a response cannot be used without the verifier. A response must have the state of the request and the
 * right issuer. The issuer may be missing if the server does not announce the parameter `iss`.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../../base/errors.ts'
import type { RandomBytes } from '../../../base/stamp.ts'
import type { OAuthClient } from './client-registration.ts'
import type { SignInPlace } from './discovery.ts'

export interface AuthorizationOptions {
  readonly place: SignInPlace
  readonly client: OAuthClient
  readonly redirectUri: string
  readonly scope: string | undefined
  readonly random: RandomBytes
}

export interface Authorization {
  /** The address that the user's browser opens. */
  readonly url: string
  readonly state: string
  readonly verifier: string
}

/** The number of random bytes in the state, and in the verifier. In base64url they have 43 characters (RFC 7636). */
const secretBytes = 32

export function createAuthorization({
  place, client, redirectUri, scope, random,
}: AuthorizationOptions): Authorization {
  const state = random(secretBytes).toString('base64url')
  const verifier = random(secretBytes).toString('base64url')
  const url = new URL(place.authority.authorizationEndpoint)
  const parameters = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    ...(scope === undefined ? {} : { scope }),
    state,
    code_challenge: digest(verifier).toString('base64url'),
    code_challenge_method: 'S256',
    resource: place.resource,
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, state, verifier }
}

/**
 * True when the only state in a response is the given state. Compares digests, so that the duration does not depend on
 * the state.
 */
export function hasState(answer: URLSearchParams, state: string): boolean {
  const [given, second] = answer.getAll('state')
  return given !== undefined && second === undefined && timingSafeEqual(digest(given), digest(state))
}

/** Returns the authorization code in a response that `hasState` has accepted. @throws AppError `upstream_failed` */
export function codeIn(answer: URLSearchParams, { authority: { issuer, namesItself } }: SignInPlace): string {
  const [iss, secondIss] = answer.getAll('iss')
  if (secondIss !== undefined || (iss === undefined ? namesItself : iss !== issuer)) {
    throw new AppError('upstream_failed', 'Could not sign in: the answer is of another authorization server')
  }
  const error = answer.get('error')
  if (error !== null) {
    throw new AppError('upstream_failed', `Could not sign in: the authorization server says ${errorCode(error)}`)
  }
  const [code, secondCode] = answer.getAll('code')
  if (code !== undefined && code !== '' && secondCode === undefined) return code
  throw new AppError('upstream_failed', 'Could not sign in: the answer holds no code')
}

/**
 * Returns the words for an error message: an OAuth error code in quotes (RFC 6749, sections 4.1.2.1 and 5.2; extensions
 * add codes), or a general phrase for any other value. An `error_description` is not used.
 */
export function errorCode(value: unknown): string {
  return typeof value === 'string' && /^[a-z_]{1,50}$/.test(value) ? `"${value}"` : 'that something is wrong'
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
