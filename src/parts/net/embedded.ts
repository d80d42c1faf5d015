/**
 * Finds the IPv4 addresses to which an IPv6 address leads, so that a rule about IPv4 addresses covers it too.
 *
 * The forms are IPv4-mapped and IPv4-compatible (RFC 4291, section 2.5.5), IPv4-translated (RFC 2765), NAT64 (RFC 6052,
 * RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380) and ISATAP (RFC 5214). A network's own NAT64 prefix is not known here.
 */
import { isIP } from 'node:net'

/** The eight groups of an IPv6 address, or the first of them: numbers of 16 bits. */
type Groups = readonly number[]

interface Form {
  /** The first groups of an address of this form. */
  readonly prefix: Groups
  /** Lists of the positions of the IPv4 address's four bytes. NAT64 (RFC 8215) has one list for each prefix length. */
  readonly offsets: readonly (readonly [number, number, number, number])[]
  /** True for the client's address in Teredo, of which each bit is stored inverted. */
  readonly isInverted?: true
}

const atEnd = [12, 13, 14, 15] as const
/** The positions of the IPv4 address's bytes for the prefix lengths 48, 56, 64 and 96 of RFC 6052, section 2.2. */
const nat64Positions = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], atEnd] as const

const forms: readonly Form[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], offsets: [atEnd] },
  { prefix: [0, 0, 0, 0, 0, 0], offsets: [atEnd] },
  { prefix: [0, 0, 0, 0, 0xffff, 0], offsets: [atEnd] },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], offsets: [atEnd] },
  { prefix: [0x64, 0xff9b, 1], offsets: nat64Positions },
  { prefix: [0x2002], offsets: [[2, 3, 4, 5]] },
  { prefix: [0x2001, 0], offsets: [[4, 5, 6, 7]] },
  { prefix: [0x2001, 0], offsets: [atEnd], isInverted: true },
]

/** Returns the IPv4 addresses inside of an IPv6 address; empty for an IPv4 address and for other IPv6 addresses. */
export function embeddedAddresses(address: string): readonly string[] {
  if (isIP(address) !== 6) return []
  const groups = groupsOf(address)
  // `::` and `::1` are not IPv4-compatible addresses.
  if (groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1) return []
  const found = forms.filter(({ prefix }) => prefix.every((group, index) => group === groups[index]))
  const isIsatap = groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0
  const all: readonly Form[] = isIsatap ? [...found, { prefix: [], offsets: [atEnd] }] : found
  return all.flatMap(({ offsets, isInverted }) => {
    return offsets.map((position) => ipv4At(groups, position, isInverted === true))
  })
}

function ipv4At(groups: Groups, position: readonly number[], isInverted: boolean): string {
  return position.map((offset) => {
    const byte = ((groups[offset >> 1] ?? 0) >> (offset % 2 === 0 ? 8 : 0)) & 0xff
    return isInverted ? byte ^ 0xff : byte
  }).join('.')
}

/** Returns the groups of a valid IPv6 address. The address may have a zone, or end in an IPv4 address. */
function groupsOf(address: string): Groups {
  const [bare = ''] = address.split('%')
  const text = bare.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...found: string[]) => {
    const [a, b, c, d] = found
    return `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`
  })
  const [head = [], tail = []] = text.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = text.includes('::') ? Array<string>(8 - head.length - tail.length).fill('0') : []
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}
