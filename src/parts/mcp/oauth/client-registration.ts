/**
 * Chooses the OAuth client for a sign-in (MCP 2025-11-25, authorization, "Client Registration Approaches").
 *
 * The choice is the client in the settings, else the client ID metadata document in the settings if the authorization
 * server accepts it, else a client that is registered for this sign-in alone (RFC 7591). `private_key_jwt` is not
 * supported.
 */
import { AppError } from '../../../base/errors.ts'
import { objectOf, textOf, type Fields } from '../../../base/fields.ts'
import type { Authority, SignInPlace } from './discovery.ts'
import { fetchDocument, isThisMachine, type Reach } from './documents.ts'

export const clientMethods = ['none', 'client_secret_post', 'client_secret_basic'] as const
export type ClientMethod = (typeof clientMethods)[number]

export interface OAuthClient {
  readonly id: string
  readonly secret: string | undefined
  readonly method: ClientMethod
}

export interface ClientWishes {
  /** The member `auth.authentication` of the MCP server's settings; an empty object if it is missing. */
  readonly settings: Fields
  readonly place: SignInPlace
  readonly redirectUri: string
  readonly scope: string | undefined
  /** The issuer and client of the last login to this MCP server; undefined if they are unknown. */
  readonly known: { readonly issuer: string, readonly client: OAuthClient } | undefined
}

/**
 * Returns the OAuth client for a sign-in.
 * @throws AppError `bad_request` when the settings do not allow the sign-in, a client lacks its secret, or the server
 * registers no clients; `upstream_failed` when the server refuses to register one; the errors of `fetchDocument`
 */
export async function findClient(wishes: ClientWishes, reach: Reach): Promise<OAuthClient> {
  const { settings, place: { authority } } = wishes
  assertIssuer(wishes)
  const wanted = settings['client_auth_method']
  if (wanted !== undefined && !isMethod(wanted)) {
    throw new AppError(
      'bad_request',
      'Cannot sign in with client_auth_method "private_key_jwt": expected none, client_secret_post or ' +
      'client_secret_basic',
    )
  }
  const [id, document] = [textOf(settings['client_id']), textOf(settings['client_metadata_url'])]
  if (id !== undefined) return withMethod(id, textOf(settings['client_secret']), wanted, authority)
  if (document !== undefined && authority.takesClientDocuments) {
    return { id: document, secret: undefined, method: 'none' }
  }
  return register(wishes, wanted, reach)
}

/**
 * Refuses an authorization server that must not get the OAuth client in the settings: a hostile MCP server could name
 * one that collects client secrets. An `issuer` in the settings is the only allowed issuer. Without it, a secret that
 * the last login used may go only to the issuer of that login. Any other secret may go to any issuer.
 * @throws AppError `bad_request`
 */
function assertIssuer({ settings, known, place: { authority: { issuer } } }: ClientWishes): void {
  const secret = textOf(settings['client_secret'])
  const bound = secret !== undefined && known?.client.secret === secret ? known.issuer : issuer
  const own = textOf(settings['issuer']) ?? bound
  if (own === issuer) return
  throw new AppError(
    'bad_request',
    `Cannot sign in: the client in the settings is for the authorization server "${own}", and the MCP server names ` +
    `"${issuer.slice(0, 200)}"; if this is right, set it as "issuer" beside the client`,
  )
}

export function isMethod(value: unknown): value is ClientMethod {
  return clientMethods.some((method) => method === value)
}

function withMethod(
  id: string, secret: string | undefined, wanted: ClientMethod | undefined, authority: Authority,
): OAuthClient {
  const method = wanted ?? (secret === undefined ? 'none' : usualMethod(authority))
  if (method !== 'none' && secret === undefined) {
    throw new AppError('bad_request', `Cannot sign in with ${method}: there is no client_secret`)
  }
  return { id, secret: method === 'none' ? undefined : secret, method }
}

function usualMethod({ clientMethods: known }: Authority): ClientMethod {
  return known.includes('client_secret_basic') || !known.includes('client_secret_post')
    ? 'client_secret_basic'
    : 'client_secret_post'
}

async function register(wishes: ClientWishes, wanted: ClientMethod | undefined, reach: Reach): Promise<OAuthClient> {
  const { settings, place: { authority }, redirectUri, scope } = wishes
  const { registrationEndpoint: url } = authority
  if (url === undefined) {
    throw new AppError(
      'bad_request', 'Cannot sign in without a client_id: the authorization server registers no clients',
    )
  }
  const body = JSON.stringify({
    client_name: textOf(settings['client_name']) ?? 'agent-server',
    ...objectOf(settings['additional_client_metadata']),
    ...(scope === undefined ? {} : { scope }),
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: isThisMachine(new URL(redirectUri)) ? 'native' : 'web',
    token_endpoint_auth_method: wanted ?? (authority.clientMethods.includes('none') ? 'none' : usualMethod(authority)),
  })
  const { status, fields = {} } = await fetchDocument(
    { method: 'POST', url, headers: { 'content-type': 'application/json' }, body }, reach,
  )
  const id = textOf(fields['client_id'])
  if (status < 200 || status > 299 || id === undefined) {
    throw new AppError(
      'upstream_failed',
      `Could not sign in: the authorization server has refused to register a client (status ${status})`,
    )
  }
  const given = fields['token_endpoint_auth_method']
  return withMethod(id, textOf(fields['client_secret']), isMethod(given) ? given : wanted, authority)
}
