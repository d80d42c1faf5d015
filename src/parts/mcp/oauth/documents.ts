/**
 * Sends the requests of a sign-in, and checks their addresses (RFC 6749, sections 3.1 and 3.2; RFC 8414, section 6; RFC
 * 9728, section 7).
 *
 * An address has to be https. Plain http and addresses of this machine are allowed only for an MCP server on this
 * machine. Redirects are not followed, so that no code, token or secret goes to another address.
 */
import { AppError } from '../../../base/errors.ts'
import { isObject, parseJson } from '../../../base/json.ts'
import { isLoopbackAddress, isOwnAddress } from '../../net/address.ts'
import { sendRequest } from '../../net/outbound.ts'
import type { Fields } from '../../../base/fields.ts'

/** Whether a sign-in may use addresses of this machine, and the signal that ends its requests. */
export interface Reach {
  readonly allowsThisMachine: boolean
  readonly signal: AbortSignal
}

export interface DocumentAnswer {
  readonly status: number
  /** The members of the body; undefined when the body is not a JSON object. */
  readonly fields: Fields | undefined
}

export interface DocumentRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const limitBytes = 256 * 1024
const timeoutMs = 30_000

/**
 * Returns the `Reach` of a sign-in. Addresses of this machine are allowed if the host of `serverUrl` is such an address
 * or `localhost`.
 * @throws AppError `bad_request` when `serverUrl` is neither https nor http on `localhost` or a loopback address
 */
export function reachOf(serverUrl: string, signal: AbortSignal): Reach {
  const url = URL.canParse(serverUrl) ? new URL(serverUrl) : undefined
  const allowsThisMachine = url !== undefined && (isThisMachine(url) || isOwnAddress(literalOf(url)))
  if (url === undefined || !isSecure(url, allowsThisMachine)) {
    throw new AppError(
      'bad_request', 'Cannot sign in to the server: expected an https address, or http on this machine',
    )
  }
  return { allowsThisMachine, signal }
}

/** Returns an address from a document. @throws AppError `upstream_failed` for an address that a sign-in may not use */
export function addressIn(value: unknown, what: string, { allowsThisMachine }: Reach): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isPlain = url !== undefined && url.username === '' && url.password === '' && url.hash === ''
  if (isPlain && isSecure(url, allowsThisMachine)) return url
  throw new AppError('upstream_failed', `Could not sign in: the ${what} is no https address`)
}

/** Sends a request and reads the JSON object of the response. @throws the errors of `sendRequest` */
export async function fetchDocument(request: DocumentRequest, reach: Reach): Promise<DocumentAnswer> {
  const { signal, allowsThisMachine } = reach
  const allowAddress = (address: string): boolean => allowsThisMachine || !isOwnAddress(address)
  const headers = { accept: 'application/json', ...request.headers }
  const { status, body } = await sendRequest({ ...request, headers, signal, limitBytes, timeoutMs, allowAddress })
  return { status, fields: fieldsOf(body.toString()) }
}

/** Returns whether the host is `localhost` or a loopback address. */
export function isThisMachine(url: URL): boolean {
  return url.hostname === 'localhost' || isLoopbackAddress(literalOf(url))
}

function literalOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function isSecure(url: URL, allowsThisMachine: boolean): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:' && allowsThisMachine && isThisMachine(url)
}

function fieldsOf(text: string): Fields | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // The caller handles an unusable document.
  }
}
