/**
 * Where browsers bring the answers of authorization servers: one address of this server, for all sign-ins.
 *
 * Without a public address it is the loopback one (RFC 8252, section 7.3), whatever the server listens on: an authorization
 * server takes no other without https, and a browser on another machine then shows an address that its user can copy. Pure.
 */
import { AppError } from '../../../base/errors.ts'

export const callbackPath = '/api/mcp/oauth/callback'

export interface Addresses {
  readonly publicUrl: string | undefined
  /** Under which this server listens, the main one first. */
  readonly urls: readonly string[]
}

/** @throws AppError `unavailable` when nobody has said where this server is */
export function redirectUriOf({ publicUrl, urls: [url] }: Addresses): string {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/$/, '')}${callbackPath}`
  if (url === undefined) throw new AppError('unavailable', 'Cannot sign in: this server does not know its own address; expected the option publicUrl')
  const { hostname, port } = new URL(url)
  return `http://${hostname === '[::1]' ? hostname : '127.0.0.1'}:${port}${callbackPath}`
}
