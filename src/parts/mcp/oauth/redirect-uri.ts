/**
 * The redirect URI of all sign-ins: the address of this server to which authorization servers redirect browsers with
 * their responses.
 *
 * Without a public address, the URI is a loopback address (RFC 8252, section 7.3), which a browser on another machine
 * cannot reach. The user then copies the address from that browser, and the client sends it to this server.
 */
import { AppError } from '../../../base/errors.ts'

export const callbackPath = '/api/mcp/oauth/callback'

export interface Addresses {
  readonly publicUrl: string | undefined
  /** The addresses that this server listens on, the main address first. */
  readonly urls: readonly string[]
}

/** Returns the redirect URI. @throws AppError `unavailable` when the server's address is unknown */
export function redirectUriOf({ publicUrl, urls: [url] }: Addresses): string {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/$/, '')}${callbackPath}`
  if (url === undefined) {
    throw new AppError(
      'unavailable', 'Cannot sign in: this server does not know its own address; expected the option publicUrl',
    )
  }
  const { hostname, port } = new URL(url)
  return `http://${hostname === '[::1]' ? hostname : '127.0.0.1'}:${port}${callbackPath}`
}
