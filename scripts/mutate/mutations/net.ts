/**
 * Promises of src/net: the addresses that are reached, and the data that goes there. See scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const outbound = ['test/parts/net/outbound.test.ts']

export const netMutations: readonly Mutation[] = [
  {
    file: 'src/parts/net/address.ts',
    old: 'refused.addSubnet(\'169.254.0.0\', 16)',
    new: 'refused.addSubnet(\'169.254.0.0\', 24)',
    promise: 'No request goes to a link-local address.',
    tests: ['test/parts/net/address.test.ts'],
  },
  {
    file: 'src/parts/net/outbound.ts',
    old: 'assertLiteral(url.hostname, allowAddress)',
    new: 'void assertLiteral',
    promise: 'An address that is written out is looked at as one that a name leads to.',
    tests: outbound,
  },
  {
    file: 'src/parts/net/outbound.ts',
    old: 'if (left < 0) throw failed(hop, `its answer is longer than ${hop.limitBytes} bytes`)',
    new: 'if (left < -hop.limitBytes) throw failed(hop, `its answer is longer than ${hop.limitBytes} bytes`)',
    promise: 'An answer is not read beyond its limit.',
    tests: outbound,
  },
  {
    file: 'src/parts/net/outbound.ts',
    old: 'if (url.username !== \'\' || url.password !== \'\') throw',
    new: 'if (url.username === url.origin) throw',
    promise: 'A URL with credentials is not sent.',
    tests: outbound,
  },
  {
    file: 'src/parts/net/outbound.ts',
    old: 'if (left === 0) throw failed(hop, `it redirects more than ${redirectLimit} times`)',
    new: 'if (left === -5) throw failed(hop, `it redirects more than ${redirectLimit} times`)',
    promise: 'Redirects are followed as often as was allowed.',
    tests: outbound,
  },
  {
    file: 'src/parts/net/redirect.ts',
    old: 'return (isSameOrigin || harmless.has(lower))',
    new: 'return (isSameOrigin || harmless.has(lower) || lower === \'authorization\')',
    promise: 'No credential goes to another origin with a redirect.',
    tests: ['test/parts/net/redirect.test.ts'],
  },
  {
    file: 'src/parts/net/redirect.ts',
    old: 'if (!isSameOrigin && body.length > 0) throw refused(',
    new: 'if (!isSameOrigin && body.length < 0) throw refused(',
    promise: 'No body goes to another origin with a redirect.',
    tests: ['test/parts/net/redirect.test.ts'],
  },
]
