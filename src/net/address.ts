/**
 * Which addresses outgoing requests never reach: those that make sense on one link only, and the services by which a
 * cloud tells a machine its own credentials.
 *
 * Loopback and private networks are allowed, since models and tools run there. Addresses are judged after a name is
 * resolved and are the very ones that are connected to, so a name cannot change its mind in between (DNS rebinding).
 * Rules: RFC 3927 and RFC 4291, section 2.5.6 (link-local), RFC 1122, section 3.2.1.3 and RFC 4291, section 2.5.2 (this
 * host, unspecified), RFC 6052 (IPv4 inside IPv6).
 */
import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { AppError } from '../base/errors.ts'

export type AddressRule = (address: string) => boolean

const refused = new BlockList()
refused.addSubnet('0.0.0.0', 8)
refused.addSubnet('169.254.0.0', 16)
// The metadata service of one cloud is not link-local.
refused.addAddress('100.100.100.200')
refused.addAddress('::', 'ipv6')
refused.addSubnet('fe80::', 10, 'ipv6')
refused.addAddress('fd00:ec2::254', 'ipv6')
// Link-local IPv4 by way of NAT64. Node looks through IPv4-mapped addresses (::ffff:0:0/96) itself.
refused.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')
loopback.addSubnet('64:ff9b::7f00:0', 104, 'ipv6')

/** True for an IP address of this machine that only this machine reaches. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** True unless no request of ours may go to this IP address. */
export function isAllowedAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && !refused.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Checks a host that is an address already; a name is left to the lookup. @throws AppError `address_refused` */
export function assertLiteral(hostname: string, allow: AddressRule): void {
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  if (isIP(address) !== 0 && !isReachable(address, allow)) throw addressRefused(hostname)
}

/** A lookup for `net.connect` that gives only addresses which may be reached; `resolve` is Node's unless injected. */
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
