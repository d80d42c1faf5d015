/**
 * Which addresses the browser may open: http and https, except addresses of this machine (loopback and its network
 * interfaces) that the operator did not allow.
 *
 * An entry of the allow list is a host, a host with a port, or `file:` for files of this machine. It is compared with
 * the host name that the page or the model uses. Link-local addresses and cloud metadata services are never reachable
 * (decisions 29 and 31); private networks are. The gate (net/gate.ts) checks the address that a name resolves to when
 * it connects.
 */
import { isIP } from 'node:net'
import { AppError } from '../../base/errors.ts'
import { isAllowedAddress, isOwnAddress, type AddressRule } from '../../net/address.ts'

const fileItem = 'file:'

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/**
 * Parses an address that a model gives. An address without a scheme becomes https.
 * @throws AppError `invalid_input`, `address_refused`
 */
export function parseAddress(given: string, allowed: readonly string[]): string {
  const text = given.trim()
  const shown = JSON.stringify(text.slice(0, 300))
  const url = parseUrl(text) ?? (text.includes('://') ? undefined : parseUrl(`https://${text}`))
  if (url === undefined) {
    throw new AppError('invalid_input', `Cannot open ${shown}: expected an address such as https://example.org/`)
  }
  if (url.href === 'about:blank') return url.href
  if (url.protocol === 'file:') {
    if (allowed.includes(fileItem)) return url.href
    throw new AppError(
      'address_refused',
      `Cannot open ${shown}: files are not open to the browser; read them with another tool, or serve them over http`,
    )
  }
  const port = defaultPorts[url.protocol]
  if (port === undefined) throw new AppError('address_refused', `Cannot open ${shown}: expected http or https`)
  const target = { host: withoutBrackets(url.hostname), port: url.port === '' ? port : Number(url.port) }
  const rule = gateRule(target, allowed)
  if (rule === undefined || (isIP(target.host) !== 0 && !(isAllowedAddress(target.host) && rule(target.host)))) {
    throw new AppError('address_refused', `Cannot open ${shown}: ${refusal(target)}`)
  }
  return url.href
}

/**
 * Returns the rule of the gate (net/gate.ts) for a host and port: which IP addresses may be behind it. Undefined
 * refuses the connection.
 */
export function gateRule(
  { host, port }: { readonly host: string; readonly port: number }, allowed: readonly string[],
): AddressRule | undefined {
  if (isListed(host, port, allowed)) return () => true
  // RFC 6761: these names never stand for another machine. Chromium's calls home are directed to `.invalid`, see
  // launch.ts.
  if (/(?:^|\.)(?:localhost|invalid)$/.test(host)) return undefined
  return (address) => !isOwnAddress(address)
}

function refusal({ host, port }: { readonly host: string; readonly port: number }): string {
  if (isIP(host) !== 0 && !isAllowedAddress(host)) {
    return "link-local addresses and clouds' credential services are never open to the browser"
  }
  const shown = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return 'addresses of this machine are not open to the browser; the operator can allow it with --browser-allow ' +
    `${shown}`
}

function isListed(host: string, port: number, allowed: readonly string[]): boolean {
  const name = host.includes(':') ? `[${host}]` : host
  return allowed.some((item) => item.toLowerCase() === name || item.toLowerCase() === `${name}:${port}`)
}

/** `URL` takes `localhost:3000` for an address with the scheme `localhost:`; for a user it is a host with a port. */
function parseUrl(text: string): URL | undefined {
  if (/^[^:/?#]+:\d+(?:[/?#]|$)/.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
}
