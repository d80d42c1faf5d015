/** Promises of src/parts/browser: which addresses a page reaches. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const address = ['test/parts/browser/address.test.ts']

export const browserMutations: readonly Mutation[] = [
  {
    file: 'src/parts/browser/address.ts',
    old: 'return (address) => !isOwnAddress(address)',
    new: 'return () => true',
    promise: 'No page reaches this machine by a name that leads there.',
    tests: address,
  },
  {
    file: 'src/parts/browser/address.ts',
    old: 'if (allowed.includes(fileItem)) return url.href',
    new: 'return url.href',
    promise: 'Files are not open to the browser unless the operator says so.',
    tests: address,
  },
  {
    file: 'src/parts/browser/address.ts',
    old: '/(?:^|\\.)(?:localhost|invalid)$/.test(host)',
    new: '/^(?:localhost|invalid)$/.test(host)',
    promise: 'Names below localhost are closed to the browser.',
    tests: address,
  },
  {
    file: 'src/parts/browser/address.ts',
    old: 'item.toLowerCase() === name || item.toLowerCase() === `${name}:${port}`',
    new: 'item.toLowerCase() === name || item.toLowerCase().startsWith(`${name}:`)',
    promise: 'An address that the operator allows is allowed on its port only.',
    tests: address,
  },
  {
    file: 'src/parts/browser/gate.ts',
    old: 'if (isIP(host) !== 0) assertLiteral(host, rule)',
    new: 'if (isIP(host) === 10) assertLiteral(host, rule)',
    promise: 'The gate of the browser looks at addresses that are written out.',
    tests: ['test/parts/browser/gate.test.ts'],
  },
]
