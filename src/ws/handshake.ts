/**
 * The opening handshake: decides whether a request is valid, and returns the headers of the response (RFC 6455,
 * sections 4.2.1 and 4.2.2).
 *
 * No subprotocol is selected. The caller has checked who may connect, from which origin and to which path.
 */
import { createHash } from 'node:crypto'
import { negotiateDeflate } from './deflate.ts'
import type { Agreement } from './deflate.ts'
import { parseExtensions } from './extensions.ts'

export interface UpgradeRequest {
  readonly method?: string | undefined
  readonly httpVersion: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export type Handshake =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>>; readonly deflate: Agreement | undefined }
  | Refusal

export interface Refusal {
  readonly ok: false
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
}

/** The text that the server appends to the client's key (section 1.3). */
const keySuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** Matches a client's key: 16 bytes in base64 (section 4.1, item 7). */
const keyPattern = /^[A-Za-z0-9+/]{22}==$/
const upgradeHeaders = { Upgrade: 'websocket', Connection: 'Upgrade' }
/** The headers of status 426, for another WebSocket version (section 4.4). A 426 has Upgrade (RFC 9110, 15.5.22). */
const versionHeaders = { ...upgradeHeaders, 'Sec-WebSocket-Version': '13' }

/** Checks an upgrade request. Without `deflate`, permessage-deflate is not negotiated. */
export function checkHandshake(request: UpgradeRequest, deflate?: { readonly mayKeepContext: boolean }): Handshake {
  const { method, httpVersion, headers } = request
  const key = headerOf(headers, 'sec-websocket-key')
  const version = headerOf(headers, 'sec-websocket-version')
  const offers = parseExtensions(headerOf(headers, 'sec-websocket-extensions'))

  if (method !== 'GET') return refuse(405, `expected GET, not ${method}`, { Allow: 'GET' })
  if (httpVersion !== '1.1') return refuse(400, `expected HTTP/1.1, not HTTP/${httpVersion}`)
  if (headerOf(headers, 'host') === '') return refuse(400, 'the header Host is missing')
  if (!hasToken(headers, 'upgrade', 'websocket')) return refuse(400, 'the header Upgrade must name websocket')
  if (!hasToken(headers, 'connection', 'upgrade')) return refuse(400, 'the header Connection must name Upgrade')
  if (version !== '13') return refuse(426, 'expected Sec-WebSocket-Version 13', versionHeaders)
  if (!keyPattern.test(key)) return refuse(400, 'Sec-WebSocket-Key must be 16 bytes in base64')
  if (offers === undefined) return refuse(400, 'Sec-WebSocket-Extensions does not follow its grammar')

  const accept = { ...upgradeHeaders, 'Sec-WebSocket-Accept': acceptOf(key) }
  const agreement = deflate === undefined ? undefined : negotiateDeflate(offers, deflate)
  if (agreement === undefined) return { ok: true, headers: accept, deflate: undefined }
  return { ok: true, headers: { ...accept, 'Sec-WebSocket-Extensions': agreement.header }, deflate: agreement }
}

/** Returns the proof that the server has read the key (section 4.2.2, item 5.4). */
function acceptOf(key: string): string {
  return createHash('sha1').update(key + keySuffix).digest('base64')
}

function headerOf(headers: UpgradeRequest['headers'], name: string): string {
  const value = headers[name] ?? ''
  return typeof value === 'string' ? value : value.join(',')
}

function hasToken(headers: UpgradeRequest['headers'], name: string, token: string): boolean {
  return headerOf(headers, name)
    .split(',')
    .some((element) => element.trim().toLowerCase() === token)
}

function refuse(status: number, why: string, headers: Readonly<Record<string, string>> = {}): Refusal {
  return { ok: false, status, reason: `Cannot upgrade: ${why}`, headers }
}
