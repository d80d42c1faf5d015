/**
 * Promises of src/http and src/access: the clients that are let in, and the form of a request. See
 * scripts/mutate/mutation.ts.
 */
import type { Mutation } from '../mutation.ts'

const auth = ['test/http/auth.test.ts']
const body = ['test/http/body.test.ts']
const origin = ['test/http/origin.test.ts']
const server = ['test/http/server.test.ts']

export const httpMutations: readonly Mutation[] = [
  {
    file: 'src/http/auth.ts',
    old: 'found = timingSafeEqual(block, scratch) || found',
    new: 'found = timingSafeEqual(block, scratch)',
    promise: 'Each of several session keys opens the server, not only the last.',
    tests: auth,
  },
  {
    file: 'src/http/auth.ts',
    old: 'return inQuery.length > 0 ? credentialOf(inQuery) : readHeaderCredential(rawHeaders)',
    new: 'return inQuery.some((key) => key !== \'\') ? credentialOf(inQuery) : readHeaderCredential(rawHeaders)',
    promise: 'A key in the query of an upgrade decides alone, even an empty one.',
    tests: auth,
  },
  {
    file: 'src/http/auth.ts',
    old: 'return values.length === 1 ? { kind: \'given\', key } : { kind: \'ambiguous\' }',
    new: 'return { kind: \'given\', key }',
    promise: 'A key that comes twice opens nothing.',
    tests: auth,
  },
  {
    file: 'src/http/auth.ts',
    old: 'block.writeUInt16BE(block.write(text, 2), 0)',
    new: 'block.writeUInt16BE(Math.min(1, block.write(text, 2)), 0)',
    promise: 'A key is compared with its length: zeros behind it make another key.',
    tests: auth,
  },
  {
    file: 'src/http/body.ts',
    old: 'if (size > limitBytes) fail(tooLarge(limitBytes))',
    new: 'if (size > 2 * limitBytes) fail(tooLarge(limitBytes))',
    promise: 'A body without a length is not read beyond the limit.',
    tests: body,
  },
  {
    file: 'src/http/body.ts',
    old: 'if (!isUtf8(bytes)) return invalid(0, \'expected UTF-8\')',
    new: 'if (bytes.length < 0) return invalid(0, \'expected UTF-8\')',
    promise: 'A body that is not UTF-8 is refused and not read with replacement characters.',
    tests: body,
  },
  {
    file: 'src/http/target.ts',
    old: '/\\/(?:\\.|%2e){1,2}(?:\\/|$)/i',
    new: '/\\/(?:\\.){1,2}(?:\\/|$)/i',
    promise: 'Dot segments are refused in a path, percent-encoded ones too.',
    tests: ['test/http/target.test.ts'],
  },
  {
    file: 'src/http/origin.ts',
    old: 'if (values.authority !== undefined && values.authority.toLowerCase() !== host.toLowerCase()) {',
    new: 'if (values.authority === \'\') {',
    promise: 'An absolute-form request target names the host that the Host header names.',
    tests: origin,
  },
  {
    file: 'src/api/requests.ts',
    old: 'authority: target.authority',
    new: 'authority: undefined',
    promise: 'The server compares the host of an absolute-form request target.',
    tests: ['test/e2e/hostile-requests.test.ts'],
  },
  {
    file: 'src/http/origin.ts',
    old: 'if (second !== undefined) throw badHost(\'it was sent more than once\')',
    new: 'if (second === \'\') throw badHost(\'it was sent more than once\')',
    promise: 'A request with two Host headers is refused.',
    tests: origin,
  },
  {
    file: 'src/http/origin.ts',
    old: 'if (second !== undefined) throw badOrigin(origin, \'it was sent more than once\')',
    new: 'if (second === \'\') throw badOrigin(origin, \'it was sent more than once\')',
    promise: 'A request with two Origin headers is refused.',
    tests: origin,
  },
  {
    file: 'src/http/origin.ts',
    old: 'lower === \'localhost\' || lower.endsWith(\'.localhost\')',
    new: 'lower === \'localhost\' || lower.endsWith(\'localhost\')',
    promise: 'A name that only ends in the letters of localhost is a foreign host.',
    tests: origin,
  },
  {
    file: 'src/http/origin.ts',
    old: '(parsed.authority.port ?? parsed.defaultPort) === port',
    new: '(parsed.authority.port ?? port) === port',
    promise: 'An origin of the same name is the own one only with the same port.',
    tests: origin,
  },
  {
    file: 'src/http/origin.ts',
    old: 'if (corsHeaders[0] !== \'Access-Control-Allow-Origin\') throw',
    new: 'if (corsHeaders.length === 0) throw',
    promise: 'The preflight of a foreign page is refused.',
    tests: origin,
  },
  {
    file: 'src/http/router.ts',
    old: 'text.includes(\'\\0\') ||',
    new: 'text.includes(\'\\0\\0\') ||',
    promise: 'A path parameter with a NUL is refused.',
    tests: ['test/http/router.test.ts'],
  },
  {
    file: 'src/http/server.ts',
    old: 'if (this.#closed !== undefined) response.shouldKeepAlive = false',
    new: 'if (this.#closed !== undefined) response.shouldKeepAlive = true',
    promise: 'After close() begins, the answer to a request in flight ends its connection.',
    tests: server,
  },
  {
    file: 'src/http/server.ts',
    old: 'this.#connections.size > this.#limits.connectionLimit',
    new: 'this.#connections.size > 10 + this.#limits.connectionLimit',
    promise: 'Connections beyond the limit are closed.',
    tests: server,
  },
  {
    file: 'src/http/server.ts',
    old: 'server.maxHeadersCount = 0',
    new: 'server.maxHeadersCount = 2000',
    promise: 'No header is dropped in silence, however many there are.',
    tests: [...server, 'test/e2e/hostile-requests.test.ts'],
  },
  {
    file: 'src/http/linger.ts',
    old: 'if (left < 0) request.pause()',
    new: 'if (left < -Infinity) request.pause()',
    promise: 'A body that nobody wants is read to a limit and no further.',
    tests: ['test/http/linger.test.ts'],
  },
  {
    file: 'src/access.ts',
    old: '\'GET /api/conversations\': \'read\'',
    new: '\'GET /api/conversations\': \'open\'',
    promise: 'The list of conversations needs a key.',
    tests: ['test/access.test.ts', 'test/e2e/hostile-routes.test.ts'],
  },
  {
    file: 'src/http/key-holders.ts',
    old: 'if (!holders.has(connection)) return connection',
    new: 'if (holders.has(connection)) return connection',
    promise: 'When the server is full a stranger makes room, and nobody with a key.',
    tests: ['test/http/server.test.ts'],
  },
  {
    file: 'src/http/origin.ts',
    old: '&& [\'\', \'document\'].includes(fetchDestinations.join())',
    new: '&& fetchDestinations.join() !== \'none\'',
    promise: 'A frame of another site is no link.',
    tests: ['test/http/origin.test.ts'],
  },
  {
    file: 'src/http/refused-keys.ts',
    old: 'if (refusals <= freeRefusals) return 0',
    new: 'if (refusals > freeRefusals) return 0',
    promise: 'Refused keys are answered the later the more there are.',
    tests: ['test/http/refused-keys.test.ts'],
  },
  {
    file: 'src/config.ts',
    old: 'const publicKeyChars = 16',
    new: 'const publicKeyChars = 15',
    promise: 'A session key has at least 16 characters where others can reach the server.',
    tests: ['test/config.test.ts'],
  },
]
