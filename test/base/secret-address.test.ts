/** Which parts of an address are secrets, and how they are shown. */
import * as assert from 'uvu/assert'
import { addressSecrets, redactAddresses } from '../../src/base/secret-address.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/secret-address')

const addresses: readonly (readonly [string, readonly string[], string])[] = [
  ['https://example.org', [], 'https://example.org'],
  ['https://example.org:8443/v1/models?limit=100&page=2024-10-21#top', [],
    'https://example.org:8443/v1/models?limit=100&page=2024-10-21#top'],
  ['https://me:pass@example.org/', ['me:pass', 'pass'], 'https://<x>@example.org/'],
  ['https://ghp-0123456789abcdefghij:x@host', ['ghp-0123456789abcdefghij:x', 'x', 'ghp-0123456789abcdefghij'],
    'https://<x>@host'],
  ['https://me:@host', ['me:', 'me'], 'https://<x>@host'],
  ['HTTPS://token@example.org', ['token'], 'HTTPS://<x>@example.org'],
  ['http://a%40b:p%2Bq@host', ['a%40b:p%2Bq', 'a@b:p+q', 'p%2Bq', 'p+q'], 'http://<x>@host'],
  ['http://me:a@b@host', ['me:a@b', 'a@b'], 'http://<x>@host'],
  ['http://@host', [], 'http://@host'],
  ['https://host/?api_key=short', ['short'], 'https://host/?api_key=<x>'],
  ['https://host/?a=1&Access-Token=x+y%20z&b=2', ['x+y%20z', 'x y z'], 'https://host/?a=1&Access-Token=<x>&b=2'],
  ['https://host/?token=a:b', ['a:b', 'b'], 'https://host/?token=<x>'],
  ['https://host/?id=3f2a9c1b7d5e4f60a1b2c3d4', ['3f2a9c1b7d5e4f60a1b2c3d4'], 'https://host/?id=<x>'],
  ['https://host/?q=some-words-that-are-no-token', [], 'https://host/?q=some-words-that-are-no-token'],
  ['https://host/?q=1%20sentence%20with,%20words', [], 'https://host/?q=1%20sentence%20with,%20words'],
  ['https://host/?key=%ff', ['%ff'], 'https://host/?key=<x>'],
  ['/relative?key=value', [], '/relative?key=value'],
  ['see http://u:p@a and http://b/?sig=s', ['u:p', 'p', 's'], 'see http://<x>@a and http://b/?sig=<x>'],
  ['me@example.org, x?key=y', [], 'me@example.org, x?key=y'],
]
for (const [address, secrets, shown] of addresses) {
  test(`finds ${secrets.length} secrets in ${address}`, () => {
    assert.equal(addressSecrets(address), secrets)
    assert.is(redactAddresses(address, '<x>'), shown)
  })
}

test('takes no more time for a text that is made to take it', () => {
  for (const part of ['a', '?', '&', ':', '@', '://', '?a', '&a=', 'a://b']) {
    const text = `${part.repeat(400_000)}://`
    assert.type(redactAddresses(text, '<x>'), 'string')
  }
})

test.run()
