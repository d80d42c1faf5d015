/**
 * Finds the target of a redirect, and the parts of the request that may be sent there (RFC 9110, section 15.4; WHATWG
 * Fetch, HTTP-redirect fetch).
 *
 * A redirect that would take a body to another origin is refused. Another origin gets only the `harmless` headers.
 */
import { AppError } from '../../base/errors.ts'

export interface RedirectedRequest {
  readonly method: string
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | readonly Uint8Array[]
}

/** The members of a request that a redirect may change. */
export type NextHop = Required<RedirectedRequest>

/** The headers that may go to another origin. Any other header may hold a key. */
const harmless = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/**
 * Returns the request to send next; undefined for a response without a redirect.
 * @throws AppError `upstream_failed` when the redirect may not be followed
 */
export function nextHop(request: RedirectedRequest, status: number, location: string | undefined): NextHop | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined
  const url = parseLocation(request, location)
  const isSameOrigin = url.origin === request.url.origin
  const losesBody = request.method !== 'HEAD' && (status === 303 || (status < 303 && request.method === 'POST'))
  const body = losesBody ? '' : (request.body ?? '')
  if (!isSameOrigin && body.length > 0) throw refused(request, 'its redirect would take the body to another origin')
  const headers = Object.entries(request.headers ?? {}).filter(([name]) => {
    const lower = name.toLowerCase()
    return (isSameOrigin || harmless.has(lower)) && !(losesBody && lower.startsWith('content-'))
  })
  return { method: losesBody ? 'GET' : request.method, url, headers: Object.fromEntries(headers), body }
}

function parseLocation(request: RedirectedRequest, location: string): URL {
  if (!URL.canParse(location, request.url.href)) throw refused(request, 'its redirect leads to no URL')
  const url = new URL(location, request.url)
  if (url.protocol !== 'https:' && url.protocol !== request.url.protocol) {
    throw refused(request, `its redirect leads to ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') throw refused(request, 'its redirect holds credentials')
  return url
}

function refused({ url }: RedirectedRequest, reason: string): AppError {
  return new AppError('upstream_failed', `Could not follow ${url.origin}: ${reason}`)
}
