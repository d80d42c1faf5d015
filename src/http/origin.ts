/**
 * Checks the Host and the Origin of a request, against DNS rebinding and foreign web pages.
 *
 * A Host must be an IP literal, a loopback name or a configured name. An Origin must be configured, be the origin of
 * the Host, or be a loopback origin where a key is required. Rules: RFC 9110, section 7.2; RFC 6454, section 7; WHATWG
 * Fetch, section 3.3; W3C Fetch Metadata Request Headers, section 2.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { AppError } from '../base/errors.ts'
import { headerValues, isToken } from './headers.ts'

export interface OriginRules {
  /** The host names of this server, besides loopback names. The case and the port of a Host do not matter. */
  readonly allowedHosts: readonly string[]
  /** Whole origins, such as `https://example.org`. Their case does not matter. */
  readonly allowedOrigins: readonly string[]
  /** True to allow pages of loopback origins. Set only where a key is required, so that such a page needs a key. */
  readonly trustsLoopback: boolean
}

export interface Authority {
  /** The host, in lower case; an IPv6 address has brackets. */
  readonly name: string
  /** The port as sent; undefined when none was sent. */
  readonly port: string | undefined
}

export interface HostValues {
  /** Every value of the header Host, in order. */
  readonly hosts: readonly string[]
  /** The authority of a target in absolute form; undefined for any other target. */
  readonly authority: string | undefined
}

/** A cache: the newest Host that is an IP literal or a loopback name. The same Host need not be parsed again. */
let newestLocal: { readonly text: string; readonly authority: Authority } | undefined

/**
 * Checks the Host of a request and returns it.
 * @throws AppError `host_not_allowed` for a name that `rules` do not allow; `bad_request` when the Host is missing,
 * repeated, malformed, or not the host in the request target
 */
export function assertHost(values: HostValues, rules: OriginRules): Authority {
  const [host, second] = values.hosts
  if (host === undefined) throw badHost('it is missing')
  if (second !== undefined) throw badHost('it was sent more than once')
  // RFC 9112, section 3.2: a target in absolute form must name the host of the Host header.
  if (values.authority !== undefined && values.authority.toLowerCase() !== host.toLowerCase()) {
    throw badHost('it differs from the request target')
  }
  if (host === newestLocal?.text) return newestLocal.authority
  const authority = parseAuthority(host)
  if (authority === undefined) throw badHost('expected a name or an address, and possibly a port')
  if (isIpLiteral(authority.name) || isLoopbackName(authority.name)) {
    newestLocal = { text: host, authority }
    return authority
  }
  if (rules.allowedHosts.some((allowed) => allowed.toLowerCase() === authority.name)) return authority
  const what = `Could not accept the host "${authority.name}": it is not a name of this server`
  throw new AppError('host_not_allowed', `${what}; start the server with --allowed-host ${authority.name} to allow it`)
}

function badHost(reason: string): AppError {
  return new AppError('bad_request', `Could not read the Host header: ${reason}`)
}

/** The data by which a request's origin is checked: the values of four headers, the Host and the purpose. */
export interface OriginRequest {
  readonly origins: readonly string[]
  readonly fetchSites: readonly string[]
  readonly fetchModes: readonly string[]
  readonly fetchDestinations: readonly string[]
  readonly host: Authority
  readonly purpose: RequestPurpose
}

export function originRequestOf(
  rawHeaders: readonly string[],
  host: Authority,
  purpose: RequestPurpose,
): OriginRequest {
  return {
    origins: headerValues(rawHeaders, 'origin'),
    fetchSites: headerValues(rawHeaders, 'sec-fetch-site'),
    fetchModes: headerValues(rawHeaders, 'sec-fetch-mode'),
    fetchDestinations: headerValues(rawHeaders, 'sec-fetch-dest'),
    host,
    purpose,
  }
}

/** The purpose of a request: `ask` for OPTIONS, `read` for GET and HEAD, `change` for upgrades and other methods. */
export type RequestPurpose = 'ask' | 'read' | 'change'

export function purposeOf(method: string | undefined): RequestPurpose {
  if (method === 'OPTIONS') return 'ask'
  return method === 'GET' || method === 'HEAD' ? 'read' : 'change'
}

/**
 * Checks the Origin of a request. Returns the CORS headers of its response as names and values in turn: none if there
 * is no Origin, and only `Vary` if the purpose is `ask` and the origin is not allowed.
 * @throws AppError `origin_not_allowed` when the Origin is sent twice or malformed, when it is not allowed and the
 * purpose is not `ask`, or when there is no Origin and `isLoadedElsewhere` is true
 */
export function assertOrigin(request: OriginRequest, rules: OriginRules): readonly string[] {
  const [origin, second] = request.origins
  if (origin === undefined) {
    if (isLoadedElsewhere(request, rules)) {
      throw new AppError('origin_not_allowed', 'Could not accept the request: a page of another site made it')
    }
    return []
  }
  if (second !== undefined) throw badOrigin(origin, 'it was sent more than once')
  if (isAllowedOrigin(origin, request.host, rules)) {
    return ['Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true', 'Vary', 'Origin']
  }
  if (parseOrigin(origin) === undefined) throw badOrigin(origin, 'expected a web origin')
  if (request.purpose === 'ask') return ['Vary', 'Origin']
  throw badOrigin(origin, `start the server with --allowed-origin ${origin} to allow it`)
}

/**
 * True when the `Sec-Fetch-*` headers say that a page of another site made the request. Without `trustsLoopback`, also
 * true for a page of another subdomain or port. False for a link that opens a whole page: the page with the link cannot
 * read the opened page.
 */
function isLoadedElsewhere(
  { fetchSites, fetchModes, fetchDestinations, purpose }: OriginRequest,
  rules: OriginRules,
): boolean {
  if (fetchSites.length === 0) return false
  const isNavigation = fetchModes.join() === 'navigate' && ['', 'document'].includes(fetchDestinations.join())
  const isLink = purpose === 'read' && isNavigation
  const elsewhere = rules.trustsLoopback ? ['cross-site'] : ['cross-site', 'same-site']
  return fetchSites.some((site) => elsewhere.includes(site.toLowerCase())) && !isLink
}

function badOrigin(origin: string, reason: string): AppError {
  return new AppError('origin_not_allowed', `Could not accept the origin "${origin.slice(0, 256)}": ${reason}`)
}

export interface PreflightRequest {
  /** The headers that `assertOrigin` returned. */
  readonly corsHeaders: readonly string[]
  /** Every value of Access-Control-Request-Method. */
  readonly methods: readonly string[]
  /** Every value of Access-Control-Request-Headers. */
  readonly headers: readonly string[]
}

/** The time for which a browser may keep the response to a preflight. */
const preflightMaxAgeSeconds = 600

/** True when an OPTIONS request is a CORS preflight: it has an Origin and a requested method. */
export function isPreflight(origins: readonly string[], methods: readonly string[]): boolean {
  return origins.length > 0 && methods.length > 0
}

/**
 * Returns the headers of the response to a preflight.
 * @throws AppError `bad_request` for an origin that is not allowed, several methods, a malformed method or header name
 */
export function preflightHeaders(request: PreflightRequest): readonly string[] {
  const { corsHeaders, methods } = request
  if (corsHeaders[0] !== 'Access-Control-Allow-Origin') throw new AppError('bad_request', 'Disallowed CORS origin')
  const [method = '', second] = methods
  if (!isToken(method) || second !== undefined) throw new AppError('bad_request', 'Disallowed CORS method')
  const names = request.headers.join(',').split(',').map((name) => name.trim()).filter((name) => name !== '')
  if (!names.every(isToken)) throw new AppError('bad_request', 'Disallowed CORS headers')
  const allowHeaders = names.length > 0 ? ['Access-Control-Allow-Headers', names.join(', ')] : []
  const maxAge = ['Access-Control-Max-Age', String(preflightMaxAgeSeconds)]
  return [...corsHeaders, 'Access-Control-Allow-Methods', method, ...allowHeaders, ...maxAge]
}

/** True for loopback names and addresses (RFC 6761, section 6.3; RFC 1122; RFC 4291). */
export function isLoopbackName(name: string): boolean {
  const lower = name.toLowerCase()
  if (lower === 'localhost' || lower.endsWith('.localhost')) return true
  return lower === '[::1]' || lower === '::1' || (isIPv4(lower) && lower.startsWith('127.'))
}

/** Matches `name` or `name:port` in lower case. A name is an IPv6 address in brackets, or letters, digits and `.-_`. */
const authorityForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/

/** Splits `host` or `host:port` (RFC 3986, section 3.2); undefined for any other text. */
export function parseAuthority(text: string): Authority | undefined {
  const [, name, port] = authorityForm.exec(text.toLowerCase()) ?? []
  if (name === undefined || Number(port ?? 0) > 65_535) return undefined
  if (name.startsWith('[') && !isIPv6(name.slice(1, -1))) return undefined
  return { name, port }
}

function isAllowedOrigin(origin: string, host: Authority, rules: OriginRules): boolean {
  const lower = origin.toLowerCase()
  if (rules.allowedOrigins.some((allowed) => allowed.toLowerCase() === lower)) return true
  const parsed = parseOrigin(lower)
  if (parsed === undefined) return false
  return (rules.trustsLoopback && isLoopbackName(parsed.authority.name)) || isSameOrigin(lower, host)
}

/** True when the origin has the name and port of the Host. A missing port is the default of the origin's scheme. */
export function isSameOrigin(origin: string, host: Authority): boolean {
  const parsed = parseOrigin(origin.toLowerCase())
  if (parsed === undefined) return false
  const { name, port = parsed.defaultPort } = host
  return parsed.authority.name === name && (parsed.authority.port ?? parsed.defaultPort) === port
}

function parseOrigin(origin: string): { readonly authority: Authority; readonly defaultPort: string } | undefined {
  const [, scheme, rest = ''] = /^(https?):\/\/([^/]*)$/i.exec(origin) ?? []
  const authority = parseAuthority(rest)
  if (scheme === undefined || authority === undefined) return undefined
  return { authority, defaultPort: scheme.toLowerCase() === 'https' ? '443' : '80' }
}

function isIpLiteral(name: string): boolean {
  return name.startsWith('[') || isIPv4(name)
}
