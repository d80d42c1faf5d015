/**
 * The addresses that a model may open, and the addresses that a page may reach behind a host name (decisions 29 and
 * 31).
 */
import { networkInterfaces } from 'node:os'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { gateRule, parseAddress } from '../../../src/parts/browser/address.ts'
import { suite } from '../../support/suite.ts'

/** The addresses of the interfaces other than loopback. */
const own = Object.values(networkInterfaces()).flatMap((entries = []) => {
  return entries.filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
})

const test = suite('browser/address')

const listed = ['localhost:3000', 'LocalHost:4000', '127.0.0.2', '[::1]:8080', 'dev.example']

const opened: [given: string, address: string, allowed?: readonly string[]][] = [
  ['https://example.org', 'https://example.org/'],
  ['http://example.org:8080/a?b#c', 'http://example.org:8080/a?b#c'],
  [' example.org/path ', 'https://example.org/path'],
  ['example.org:8443', 'https://example.org:8443/'],
  ['about:blank', 'about:blank'],
  ['http://10.0.0.1/', 'http://10.0.0.1/'],
  ['http://localhost:3000/', 'http://localhost:3000/', listed],
  ['http://localhost:4000/', 'http://localhost:4000/', listed],
  ['http://127.0.0.2:99/', 'http://127.0.0.2:99/', listed],
  ['http://[::1]:8080/', 'http://[::1]:8080/', listed],
  ['file:///tmp/a.html', 'file:///tmp/a.html', ['file:']],
]
for (const [given, address, allowed = []] of opened) {
  test(`opens ${JSON.stringify(given)}${allowed.length > 0 ? ' where it is listed' : ''}`, () => {
    assert.is(parseAddress(given, allowed), address)
  })
}

const refused: [given: string, code: string, message: RegExp][] = [
  ['', 'invalid_input', /expected an address such as/],
  ['http://', 'invalid_input', /expected an address such as/],
  ['a b', 'invalid_input', /expected an address such as/],
  ['file:///etc/passwd', 'address_refused', /files are not open to the browser/],
  ['chrome://version', 'address_refused', /expected http or https$/],
  ['view-source:https://example.org', 'address_refused', /expected http or https$/],
  ['javascript:alert(1)', 'address_refused', /expected http or https$/],
  ['data:text/html,x', 'address_refused', /expected http or https$/],
  ['http://localhost/', 'address_refused', /--browser-allow localhost:80$/],
  ['https://localhost/', 'address_refused', /--browser-allow localhost:443$/],
  ['localhost:3001', 'address_refused', /--browser-allow localhost:3001$/],
  ['http://a.localhost/', 'address_refused', /--browser-allow a\.localhost:80$/],
  ['http://none.invalid/', 'address_refused', /--browser-allow none\.invalid:80$/],
  ['http://127.0.0.1:8000/', 'address_refused', /--browser-allow 127\.0\.0\.1:8000$/],
  ['http://0x7f.1/', 'address_refused', /--browser-allow 127\.0\.0\.1:80$/],
  ['http://2130706433/', 'address_refused', /--browser-allow 127\.0\.0\.1:80$/],
  ['http://[::1]/', 'address_refused', /--browser-allow \[::1\]:80$/],
  ['http://[::ffff:127.0.0.1]/', 'address_refused', /--browser-allow \[::ffff:7f00:1\]:80$/],
  ['http://169.254.169.254/', 'address_refused',
    /link-local addresses and clouds' credential services are never open to the browser$/],
  ['http://0.0.0.0/', 'address_refused', /never open to the browser$/],
]
for (const [given, code, message] of refused) {
  test(`refuses ${JSON.stringify(given)}`, () => {
    assert.throws(() => parseAddress(given, []), (error: unknown) => {
      return error instanceof AppError && error.code === code && message.test(error.message)
    })
  })
}

test('a listed link-local address is refused all the same', () => {
  assert.throws(() => parseAddress('http://169.254.169.254/', ['169.254.169.254']), /never open to the browser/)
})

test('behind a name that is not listed no address of this machine may stand', () => {
  const rule = gateRule({ host: 'example.org', port: 80 }, listed)
  const addresses = [
    '93.184.216.34', '10.0.0.1', '127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2001:db8::1',
  ]
  assert.equal(addresses.filter((address) => rule?.(address)), ['93.184.216.34', '10.0.0.1', '2001:db8::1'])
})

test('addresses of a network interface of this machine are addresses of this machine', () => {
  for (const { address, family } of own) {
    const host = family === 'IPv6' ? `[${address}]` : address
    assert.throws(
      () => parseAddress(`http://${host}:8000/`, []), /addresses of this machine are not open to the browser/,
    )
    assert.is(parseAddress(`http://${host}:8000/`, [host]), `http://${host}:8000/`)
    assert.not.ok(gateRule({ host: 'example.org', port: 80 }, listed)?.(address))
  }
})

test('behind a listed name and port any may stand, and behind localhost otherwise none', () => {
  assert.ok(gateRule({ host: 'dev.example', port: 1 }, listed)?.('127.0.0.1'))
  assert.ok(gateRule({ host: '::1', port: 8080 }, listed)?.('::1'))
  assert.ok(gateRule({ host: 'localhost', port: 3000 }, listed)?.('127.0.0.1'))
  assert.is(gateRule({ host: 'localhost', port: 3001 }, listed), undefined)
  assert.is(gateRule({ host: 'a.localhost', port: 3000 }, listed), undefined)
  assert.is(gateRule({ host: 'none.invalid', port: 443 }, listed), undefined)
})

test.run()
