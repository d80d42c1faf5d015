/** Which addresses are refused, in any notation, and before or after a name is resolved. */
import type { LookupAddress } from 'node:dns'
import { networkInterfaces } from 'node:os'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import {
  assertLiteral, createLookup, isAllowedAddress, isLoopbackAddress, isOwnAddress, type AddressRule,
} from '../../../src/parts/net/address.ts'
import { suite } from '../../support/suite.ts'

const test = suite('net/address')

const refused = [
  ...[
    '169.254.169.254', '169.254.0.1', '0.0.0.0', '0.1.2.3', '100.100.100.200', '::', 'fe80::1', 'febf::1',
    'fd00:ec2::254',
  ],
  ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '::ffff:0.0.0.0', 'FD00:EC2:0:0::254'],
  // Credential services of clouds, each by name in address.ts.
  ...['168.63.129.16', '192.0.0.192', 'fd00:ec2::23', 'fd20:ce::254', 'fd20:00ce:0:0:0:0:0:254', 'fd00:42::42'],
  // The same in other spellings: NAT64 at each length, 6to4, Teredo (server and inverted client), mapped, compatible.
  ...[
    '64:ff9b::168.63.129.16', '64:ff9b::6464:64c8', '64:ff9b:1::a9fe:a9fe', '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:a9:fe:a9fe::',
  ],
  ...[
    '64:ff9b:1:0:a9:fea9:fe00::', '64:ff9b:1:1:a9:fea9:fe00::', '2002:a9fe:a9fe::1', '2002:a83f:8110::',
    '2001:0:a9fe:a9fe::1', '2001::5601:5601', '2001:0:1:1::5601:5601',
  ],
  ...[
    '::169.254.169.254', '::ffff:0:169.254.169.254', '::ffff:168.63.129.16', '2001:db8::5efe:169.254.169.254',
    '2001:db8::200:5efe:a9fe:a9fe', 'fe80::1%eth0',
  ],
  ...['', 'localhost', '169.254.169.254 '],
]
const allowed = ['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '169.253.255.255', '169.255.0.0', '1.1.1.1', 'fec0::1',
  'fd00:ec2::253', '2001:db8::1', '64:ff9b::101:101',
  '168.63.129.17', '192.0.0.191', 'fd20:ce::253', '2002:101:101::', '2001:0:101:101::fefe:fefe', '2001:db8::a9fe:a9fe',
  '2003:a9fe:a9fe::', '::101:101']

for (const address of refused) {
  test(`refuses ${JSON.stringify(address)}`, () => assert.not.ok(isAllowedAddress(address)))
}
for (const address of allowed) test(`allows ${address}`, () => assert.ok(isAllowedAddress(address)))

const interfaces: typeof networkInterfaces = () => ({
  lan: [
    { family: 'IPv4', address: '192.168.7.9', netmask: '255.255.255.0', mac: '', internal: false, cidr: null },
    {
      family: 'IPv6', address: 'fd12::9', netmask: 'ffff:ffff:ffff:ffff::', mac: '', internal: false, cidr: null,
      scopeid: 0,
    },
  ],
  gone: undefined,
})

test('knows the addresses of this machine in every spelling', () => {
  const own = [
    '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '192.168.7.9', 'fd12::9',
    'FD12:0::9', '::ffff:192.168.7.9', '::ffff:c0a8:709', '64:ff9b::c0a8:709', '2002:c0a8:709::1',
  ]
  for (const address of own) assert.ok(isOwnAddress(address, interfaces), address)
  for (const address of ['192.168.7.8', 'fd12::8', '1.1.1.1', 'localhost', '']) {
    assert.not.ok(isOwnAddress(address, interfaces), address)
  }
  for (const address of ['192.168.7.9', 'fd12::9']) assert.not.ok(isLoopbackAddress(address), address)
})

test('knows the addresses that this machine really has', () => {
  const real = Object.values(networkInterfaces()).flatMap((entries = []) => entries.map(({ address }) => address))
  assert.ok(real.length > 0)
  for (const address of real) assert.ok(isOwnAddress(address), address)
})

const all: AddressRule = () => true

test('judges a host that is an address, and leaves names to the lookup', () => {
  for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:a9fe:a9fe]']) {
    assert.throws(
      () => assertLiteral(host, all),
      (error: unknown) => error instanceof AppError && error.code === 'address_refused',
      host,
    )
  }
  for (const host of ['127.0.0.1', '[::1]', 'example.org', 'metadata.internal']) assertLiteral(host, all)
  assert.throws(() => assertLiteral('127.0.0.1', () => false), /may not be reached/)
})

/** Returns the result of a lookup for a name with these addresses. */
function look(addresses: readonly LookupAddress[], options: { all?: boolean; family?: number }, rule = all): unknown {
  let outcome: unknown
  const lookup = createLookup(rule, (_name, callback) => callback(null, addresses))
  lookup('name', options, (error, address, family) => {
    outcome = error === null ? [address, family] : error
  })
  return outcome
}

const mixed: readonly LookupAddress[] = [
  { address: '169.254.169.254', family: 4 },
  { address: '10.0.0.1', family: 4 },
  { address: 'fe80::1', family: 6 },
  { address: '2001:db8::1', family: 6 },
]

test('gives only addresses that may be reached', () => {
  assert.equal(look(mixed, { all: true }), [[mixed[1], mixed[3]], undefined])
  assert.equal(look(mixed, {}), ['10.0.0.1', 4])
  assert.equal(look(mixed, { family: 6 }), ['2001:db8::1', 6])
  assert.equal(look(mixed, { all: true, family: 4 }), [[mixed[1]], undefined])
  assert.equal(look(mixed, { all: true }, (address) => address !== '10.0.0.1'), [[mixed[3]], undefined])
})

test('fails when none is left', () => {
  for (const outcome of [look(mixed.slice(0, 1), {}), look([], { all: true }), look(mixed, {}, () => false)]) {
    assert.ok(outcome instanceof AppError && outcome.code === 'address_refused')
    assert.is(outcome.message, 'Could not send a request to "name": its address may not be reached')
  }
})

test('passes on why a name could not be resolved', () => {
  const failure = new Error('no')
  let outcome: unknown
  createLookup(all, (_name, callback) => callback(failure, []))('name', {}, (error) => (outcome = error))
  assert.is(outcome, failure)
})

test.run()
