/** Promises of src/parts/console: no text of a history runs or loads anything. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const hostile = ['test/parts/console/conversation/hostile.test.ts']
const addresses = ['test/parts/console/conversation/addresses.test.ts']

export const consoleMutations: readonly Mutation[] = [
  {
    file: 'src/parts/console/pages.ts',
    old: "const pageHeaders = [\n  'Content-Security-Policy', policy,",
    new: "const pageHeaders = [\n  'X-Policy', policy,",
    promise: 'The page is sent with its Content-Security-Policy.',
    tests: hostile,
  },
  {
    file: 'src/parts/console/pages.ts',
    old: `"script-src 'self'"`,
    new: `"script-src 'self' 'unsafe-inline'"`,
    promise: 'The page runs scripts of this server only, and none in its text.',
    tests: hostile,
  },
  {
    file: 'src/parts/console/pages.ts',
    old: `"img-src 'self' data: blob:"`,
    new: `"img-src * data: blob:"`,
    promise: 'The page loads no image of another server.',
    tests: hostile,
  },
  {
    file: 'src/parts/console/pages.ts',
    old: `"require-trusted-types-for 'script'", `,
    new: '',
    promise: 'No script of the page turns text into elements.',
    tests: hostile,
  },
  {
    file: 'src/parts/console/page/safe-address.ts',
    old: 'return safeSchemes.includes(protocol) ||',
    new: "return protocol !== '' ||",
    promise: 'An element gets no address with the scheme javascript.',
    tests: addresses,
  },
  {
    file: 'src/parts/console/page/safe-address.ts',
    old: 'png|jpeg|gif|webp);',
    new: 'png|jpeg|gif|webp|svg\\+xml);',
    promise: 'An image in a data address is never SVG.',
    tests: addresses,
  },
  {
    file: 'src/parts/console/page/conversation/markdown-inline.ts',
    old: 'return /^(?:https?:\\/\\/|mailto:)[^\\s]/i.test(href)',
    new: "return href !== ''",
    promise: 'Markdown makes no link from an address with the scheme javascript.',
    tests: addresses,
  },
  {
    file: 'src/parts/console/page/dom.ts',
    old: "typeof child === 'number') target.append(String(child))",
    new: "typeof child === 'number') target.insertAdjacentHTML('beforeend', String(child))",
    promise: 'Text becomes text nodes, never elements.',
    tests: hostile,
  },
  {
    file: 'src/parts/console/page/conversation/visible-text.ts',
    old: '\\u2028-\\u202e',
    new: '\\u2028-\\u2029',
    promise: 'Invisible characters and controls of the direction are marked.',
    tests: hostile,
  },
]
