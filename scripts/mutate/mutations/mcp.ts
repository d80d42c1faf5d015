/** Promises of src/parts/mcp and its OAuth: whose token goes where. See scripts/mutate/mutation.ts. */
import type { Mutation } from '../mutation.ts'

const logins = ['test/parts/mcp/oauth/logins.test.ts']
const signIns = ['test/parts/mcp/oauth/sign-ins.test.ts']

export const mcpMutations: readonly Mutation[] = [
  {
    file: 'src/parts/mcp/oauth/logins.ts',
    old: 'const renewal = renewals.get(key) ?? renewOrEnd(',
    new: 'const renewal = renewOrEnd(',
    promise: 'One renewal at a time is under way for a server, so that a refresh token is used once.',
    tests: logins,
  },
  {
    file: 'src/parts/mcp/oauth/logins.ts',
    old: 'if (current.accessToken !== login.accessToken) return current',
    new: 'if (current.accessToken.length === 0) return current',
    promise: 'A login that was renewed while somebody was looking is not renewed again: a refresh token is used once.',
    tests: logins,
  },
  {
    file: 'src/parts/mcp/oauth/logins.ts',
    old: 'await within(all, closePatienceMs)',
    new: 'await within(all, 0)',
    promise: 'close() waits for a renewal, since its answer may not come again.',
    tests: logins,
  },
  {
    file: 'src/parts/mcp/oauth/discovery.ts',
    old: 'if (!isTexts(challenges) || !challenges.includes(\'S256\')) {\n    throw',
    new: 'if (isTexts(challenges) && challenges.length === 0) {\n    throw',
    promise: 'An authorization server without PKCE (S256) is refused.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/discovery.ts',
    old: 'if (withoutSlash(own) !== withoutSlash(issuer.href)) throw',
    new: 'if (own === \'\') throw',
    promise: 'An authorization server that describes another one is refused.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/discovery.ts',
    old: 'if (address.origin !== url.origin) throw refused(\'the server keeps its metadata on another origin\')',
    new: 'if (address.origin === \'\') throw refused(\'the server keeps its metadata on another origin\')',
    promise: 'The metadata of a server is read from its own origin only.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/discovery.ts',
    old: 'if (typeof resource === \'string\' && isWithin(url.href, resource)) return resource',
    new: 'if (typeof resource === \'string\') return resource',
    promise: 'Metadata about another resource is refused: no token is asked for it.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/documents.ts',
    old: 'return url.protocol === \'https:\' || url.protocol === \'http:\' && allowsThisMachine && isThisMachine(url)',
    new: 'return url.protocol === \'https:\' || url.protocol === \'http:\'',
    promise: 'Servers and authorization servers are reached over https, or on this machine by a server on this ' +
      'machine.',
    tests: ['test/parts/mcp/oauth/documents.test.ts'],
  },
  {
    file: 'src/parts/mcp/sign-ins.ts',
    old: 'job.authorization = undefined\n  job.answer.resolve(answer)',
    new: 'job.answer.resolve(answer)',
    promise: 'The state of a sign-in is good once.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/sign-ins.ts',
    old: 'const timer = setTimeout(() => this.#forget(id), lifeMs)',
    new: 'const timer = setTimeout(() => undefined, lifeMs)',
    promise: 'A sign-in that nobody answers is over after its time.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/authorization.ts',
    old: 'return given !== undefined && second === undefined && timingSafeEqual(digest(given), digest(state))',
    new: 'return given !== undefined && second === undefined',
    promise: 'An answer counts only with the state of its sign-in.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/authorization.ts',
    old: 'if (secondIss !== undefined || (iss === undefined ? namesItself : iss !== issuer)) {',
    new: 'if (secondIss !== undefined) {',
    promise: 'An answer of another authorization server is refused.',
    tests: signIns,
  },
  {
    file: 'src/parts/mcp/oauth/token-endpoint.ts',
    old: 'type.toLowerCase() !== \'bearer\'',
    new: 'type === \'\'',
    promise: 'Another type of token than Bearer is refused.',
    tests: [...signIns, ...logins],
  },
  {
    file: 'src/parts/mcp/oauth/login.ts',
    old: 'if (accessToken === undefined || source !== undefined && !isWithin(serverUrl, source.resource)) return ' +
      'undefined',
    new: 'if (accessToken === undefined) return undefined',
    promise: 'A token goes to its own server only.',
    tests: [...logins, 'test/e2e/oauth.test.ts'],
  },
]
