/** Which addresses are refused, in whatever notation, and before or after a name is resolved. */
import type { LookupAddress } from 'node:dns'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { assertLiteral, createLookup, isAllowedAddress, type AddressRule } from '../../src/net/address.ts'
import { suite } from '../support/suite.ts'

const test = suite('net/address')

const refused = [
  ...['169.254.169.254', '169.254.0.1', '0.0.0.0', '0.1.2.3', '100.100.100.200', '::', 'fe80::1', 'febf::1', 'fd00:ec2::254'],
  ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '::ffff:0.0.0.0', 'FD00:EC2:0:0::254'],
  ...['', 'localhost', '169.254.169.254 '],
]
const allowed = ['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', '169.253.255.255', '169.255.0.0', '1.1.1.1', 'fec0::1', 'fd00:ec2::253', '2001:db8::1', '64:ff9b::101:101']

for (const address of refused) test(`refuses ${JSON.stringify(address)}`, () => assert.not.ok(isAllowedAddress(address)))
for (const address of allowed) test(`allows ${address}`, () => assert.ok(isAllowedAddress(address)))

const all: AddressRule = () => true

test('judges a host that is an address, and leaves names to the lookup', () => {
  for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:a9fe:a9fe]']) {
    assert.throws(() => assertLiteral(host, all), (error: unknown) => error instanceof AppError && error.code === 'address_refused', host)
  }
  for (const host of ['127.0.0.1', '[::1]', 'example.org', 'metadata.internal']) assertLiteral(host, all)
  assert.throws(() => assertLiteral('127.0.0.1', () => false), /may not be reached/)
})

/** What a lookup gives for a name with these addresses. */
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
