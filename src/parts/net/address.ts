/**
 * Decides which addresses outgoing requests must not reach: unspecified and link-local addresses, and the cloud
 * services that give a machine its credentials (RFC 3927; RFC 4291, sections 2.5.2 and 2.5.6; RFC 1122, section
 * 3.2.1.3).
 *
 * Loopback and private networks are allowed, because models and tools run there. A name is resolved first. Then its
 * addresses are checked, and the connection goes to a checked address, so DNS rebinding has no effect.
 */
import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AppError } from '../../base/errors.ts'
import { embeddedAddresses } from './embedded.ts'

export type AddressRule = (address: string) => boolean

const refused = new BlockList()
refused.addSubnet('0.0.0.0', 8)
refused.addSubnet('169.254.0.0', 16)
// Metadata and credential services that are not link-local: Alibaba, Azure, Oracle; IPv6: AWS (two), Google, Scaleway.
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) refused.addAddress(address)
for (const address of ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42']) {
  refused.addAddress(address, 'ipv6')
}
refused.addAddress('::', 'ipv6')
refused.addSubnet('fe80::', 10, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export function isLoopbackAddress(address: string): boolean {
  return leadsInto(loopback, address)
}

/** True for a loopback address, and for an address of this machine's interfaces. */
export function isOwnAddress(address: string, interfaces: typeof networkInterfaces = networkInterfaces): boolean {
  if (isLoopbackAddress(address)) return true
  const own = new BlockList()
  for (const entry of Object.values(interfaces()).flatMap((entries = []) => entries)) {
    own.addAddress(entry.address, entry.family === 'IPv6' ? 'ipv6' : 'ipv4')
  }
  return leadsInto(own, address)
}

/** True for an IP address that `refused` does not cover; false for text that is not an IP address. */
export function isAllowedAddress(address: string): boolean {
  return isIP(address) !== 0 && !leadsInto(refused, address)
}

/** True when the list has the IP address, or an IPv4 address that is embedded in the IP address (embedded.ts). */
function leadsInto(addresses: BlockList, address: string): boolean {
  const isThere = (ip: string): boolean => addresses.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4')
  return isThere(address) || embeddedAddresses(address).some(isThere)
}

/** Checks a host that is an IP address. `createLookup` checks the addresses of a name. @throws `address_refused` */
export function assertLiteral(hostname: string, allow: AddressRule): void {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(address) !== 0 && !isReachable(address, allow)) throw addressRefused(hostname)
}

/** Returns a lookup for `net.connect` that finds only allowed addresses. `resolve` finds all addresses of a name. */
export function createLookup(allow: AddressRule, resolve: typeof lookupAll = lookupAll): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const wanted = options.family === 4 || options.family === 6 ? options.family : undefined
      const allowed = addresses.filter(({ address, family }) => {
        return (wanted === undefined || family === wanted) && isReachable(address, allow)
      })
      const [first] = allowed
      if (first === undefined) callback(addressRefused(hostname), [])
      else if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}

function lookupAll(
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
): void {
  lookup(hostname, { all: true }, callback)
}

function isReachable(address: string, allow: AddressRule): boolean {
  return isAllowedAddress(address) && allow(address)
}

function addressRefused(host: string): AppError {
  return new AppError('address_refused', `Could not send a request to "${host}": its address may not be reached`)
}
