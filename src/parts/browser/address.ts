/**
 * Decides which addresses the browser may open: `about:blank`, and http and https addresses of other machines, but no
 * link-local addresses and no credential services of clouds.
 *
 * The operator's allow list (`--browser-allow`) adds addresses of this machine. An entry is a host, a host with a port,
 * or `file:`, which allows all files.
 */
import { isIP } from 'node:net'
import { AppError } from '../../base/errors.ts'
import { isAllowedAddress, isOwnAddress, type AddressRule } from '../net/address.ts'

const fileItem = 'file:'

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/**
 * Returns the absolute URL for an address that a model wrote. An address without a scheme gets https.
 * @throws AppError `invalid_input` for a text that is no address, `address_refused` for an address that is not allowed
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

/** Returns the rule that the IP addresses of a host must pass; undefined if the host is refused by its name. */
export function gateRule(
  { host, port }: { readonly host: string; readonly port: number }, allowed: readonly string[],
): AddressRule | undefined {
  if (isListed(host, port, allowed)) return () => true
  // Refuse `localhost`, `invalid` and all names below them: they belong to no other machine (RFC 6761).
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

/** Parses a URL. Returns undefined for other texts, also for `name:3000`, which `URL` takes for a scheme and a path. */
function parseUrl(text: string): URL | undefined {
  if (/^[^:/?#]+:\d+(?:[/?#]|$)/.test(text) || !URL.canParse(text)) return undefined
  return new URL(text)
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
}
