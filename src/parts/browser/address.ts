/**
 * What the browser may open: pages over http and https, and no address of this machine, loopback or
 * of a network interface, unless the operator has listed it.
 *
 * An item of the list is a host, a host with a port, or `file:` for the files of this machine. It is matched against
 * the name that a page or a model uses. Link-local addresses and the credentials services of clouds are never reached
 * (decisions 29 and 31); private networks are. The address behind a name is judged by the gate when it connects.
 */
import { isIP } from 'node:net'
import { AppError } from '../../base/errors.ts'
import { isAllowedAddress, isOwnAddress, type AddressRule } from '../../net/address.ts'

const fileItem = 'file:'

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/**
 * The address that a model wants to see, in full. A name without a scheme is taken as https.
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

/** For the gate: which addresses may stand behind a host and port; undefined for none. */
export function gateRule(
  { host, port }: { readonly host: string; readonly port: number }, allowed: readonly string[],
): AddressRule | undefined {
  if (isListed(host, port, allowed)) return () => true
  // Names that never stand for another machine (RFC 6761); what the browser would ask of its maker is sent to the
  // second.
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

/** `localhost:3000` has the scheme "localhost:" to a parser, and a port to everybody else. */
function parseUrl(text: string): URL | undefined {
  if (/^[^:/?#]+:\d+(?:[/?#]|$)/.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
}
