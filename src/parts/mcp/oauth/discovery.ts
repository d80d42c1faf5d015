/**
 * Finds the authorization server of an MCP server (MCP 2025-06-18 and 2025-11-25, authorization).
 *
 * The MCP server lists authorization servers in its protected resource metadata (RFC 9728). Without such a list, the
 * MCP server is its own authorization server (MCP 2025-03-26). The authorization server describes itself (RFC 8414, or
 * OpenID Connect Discovery 1.0).
 */
import { AppError } from '../../../base/errors.ts'
import { openRequest } from '../../net/outbound.ts'
import { textOf, type Fields } from '../../../base/fields.ts'
import { addressIn, fetchDocument, type Reach } from './documents.ts'

export interface Authority {
  readonly issuer: string
  readonly authorizationEndpoint: URL
  readonly tokenEndpoint: URL
  readonly registrationEndpoint: URL | undefined
  /** The client authentication methods of the token endpoint. */
  readonly clientMethods: readonly string[]
  /** Whether the authorization responses name the issuer (RFC 9207). */
  readonly namesItself: boolean
  /** Whether the authorization server accepts a client ID metadata document. */
  readonly takesClientDocuments: boolean
}

export interface SignInPlace {
  readonly authority: Authority
  /** The resource to request tokens for (RFC 8707). */
  readonly resource: string
  /** The scope in the MCP server's 401 response, else all scopes in its metadata; undefined if neither has a scope. */
  readonly scope: string | undefined
}

export interface FindOptions {
  /** The time limit, in milliseconds, for a response to the request without a token. Default 5000. */
  readonly probeTimeoutMs?: number
}

/**
 * Finds the authorization server of an MCP server, and the resource and scope to ask for. @throws AppError
 * `bad_request`, `upstream_failed`, `upstream_timeout`, `address_refused`, or the signal's reason
 */
export async function findSignIn(
  serverUrl: string, reach: Reach, { probeTimeoutMs = 5000 }: FindOptions = {},
): Promise<SignInPlace> {
  const url = new URL(serverUrl)
  const challenge = await probe(url, reach, probeTimeoutMs)
  const named = challengeParameter(challenge, 'resource_metadata')
  const metadata = await readResource(url, named, reach)
  const resource = metadata === undefined ? withoutFragment(url) : resourceOf(metadata, url)
  const servers = metadata?.['authorization_servers']
  const issuer = Array.isArray(servers) ? addressIn(servers[0], 'authorization server', reach) : new URL(url.origin)
  const scopes = metadata?.['scopes_supported']
  const scope =
    challengeParameter(challenge, 'scope') ?? (isTexts(scopes) && scopes.length > 0 ? scopes.join(' ') : undefined)
  return { authority: await readAuthority(issuer, reach), resource, scope }
}

/** Sends a request without a token. Returns the `WWW-Authenticate` header of a 401; '' without one or at a timeout. */
async function probe(url: URL, { signal }: Reach, timeoutMs: number): Promise<string> {
  try {
    const stream = await openRequest({
      method: 'GET',
      url,
      headers: { accept: 'text/event-stream' },
      signal,
      limitBytes: 0,
      timeoutMs,
    })
    stream.close()
    return stream.status === 401 ? (stream.headers['www-authenticate'] ?? '') : ''
  } catch (error) {
    if (error instanceof AppError && error.code === 'upstream_timeout' && !signal.aborted) return ''
    throw error
  }
}

/** Returns the value of an auth-param (RFC 9110, section 11.2); undefined if it is missing, empty or has an escape. */
function challengeParameter(challenge: string, name: string): string | undefined {
  // Each match takes a whole parameter, so no name is found inside the quotes of another parameter.
  const parameters = challenge.matchAll(/(?:^|[\s,])([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g)
  const found = [...parameters].find(([, key = '']) => key.toLowerCase() === name)
  const value = found?.[2] ?? found?.[3]
  return value?.includes('\\') === true ? undefined : textOf(value)
}

async function readResource(url: URL, named: string | undefined, reach: Reach): Promise<Fields | undefined> {
  if (named !== undefined) {
    const address = addressIn(named, 'address of its metadata', reach)
    if (address.origin !== url.origin) throw refused('the server keeps its metadata on another origin')
    const { status, fields } = await fetchDocument({ method: 'GET', url: address }, reach)
    if (status !== 200 || fields === undefined) throw refused('the server has no metadata at the address that it names')
    return fields
  }
  return firstDocument(
    wellKnown(url, 'oauth-protected-resource', url.pathname === '/' ? [''] : [url.pathname, '']), reach,
  )
}

/**
 * Returns the resource in the metadata: the server's address, or a parent path (RFC 9728, section 3.3).
 * @throws AppError `upstream_failed` for metadata about another resource, or without a resource
 */
function resourceOf({ resource }: Fields, url: URL): string {
  if (typeof resource === 'string' && isWithin(url.href, resource)) return resource
  throw refused('the metadata of the server is about another resource')
}

/** Returns whether the address is the resource, or below it. */
export function isWithin(address: string, resource: string): boolean {
  if (!URL.canParse(address) || !URL.canParse(resource)) return false
  const [inner, outer] = [new URL(address), new URL(resource)]
  const path = outer.pathname.endsWith('/') ? outer.pathname : `${outer.pathname}/`
  return inner.origin === outer.origin && `${inner.pathname}/`.startsWith(path)
}

async function readAuthority(issuer: URL, reach: Reach): Promise<Authority> {
  const path = withoutSlash(issuer.pathname)
  const fields = await firstDocument([
    ...wellKnown(issuer, 'oauth-authorization-server', [path]),
    ...wellKnown(issuer, 'openid-configuration', [path]),
    ...(path === '' ? [] : [new URL(`${path}/.well-known/openid-configuration`, issuer)]),
  ], reach)
  if (fields === undefined) throw refused(`the authorization server ${issuer.origin} does not describe itself`)
  const own = textOf(fields['issuer']) ?? ''
  if (withoutSlash(own) !== withoutSlash(issuer.href)) throw refused('the authorization server names another issuer')
  const { code_challenge_methods_supported: challenges, registration_endpoint: registration } = fields
  if (!isTexts(challenges) || !challenges.includes('S256')) {
    throw refused('the authorization server does not support PKCE with S256')
  }
  const methods = fields['token_endpoint_auth_methods_supported']
  return {
    issuer: own,
    authorizationEndpoint: addressIn(fields['authorization_endpoint'], 'authorization endpoint', reach),
    tokenEndpoint: addressIn(fields['token_endpoint'], 'token endpoint', reach),
    registrationEndpoint:
      registration === undefined ? undefined : addressIn(registration, 'registration endpoint', reach),
    // `client_secret_basic` is the default in RFC 8414, section 2.
    clientMethods: isTexts(methods) ? methods : ['client_secret_basic'],
    namesItself: fields['authorization_response_iss_parameter_supported'] === true,
    takesClientDocuments: fields['client_id_metadata_document_supported'] === true,
  }
}

/** Returns the first document with the status 200 that is a JSON object; undefined if there is none. */
async function firstDocument(urls: readonly URL[], reach: Reach): Promise<Fields | undefined> {
  for (const url of urls) {
    const { status, fields } = await fetchDocument({ method: 'GET', url }, reach)
    if (status === 200 && fields !== undefined) return fields
  }
  return undefined
}

/** Returns an address for each path, with `/.well-known/` and the name before the path (RFC 8414, section 3). */
function wellKnown(url: URL, name: string, paths: readonly string[]): URL[] {
  return paths.map((path) => new URL(`/.well-known/${name}${path}`, url))
}

function withoutFragment(url: URL): string {
  return url.href.split('#', 1)[0] ?? ''
}

function withoutSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function refused(reason: string): AppError {
  return new AppError('upstream_failed', `Could not sign in: ${reason}`)
}
