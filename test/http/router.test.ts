/** Which route a path leads to, and the answer when it leads to none. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { createRouter, parameterOf, type Method } from '../../src/http/router.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/router')

function routerOf(...patterns: string[]): ReturnType<typeof createRouter<{ method: Method; pattern: string }>> {
  return createRouter(patterns.map((text) => ({ method: methodOf(text), pattern: text.slice(text.indexOf('/')) })))
}

function methodOf(text: string): Method {
  const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const method = methods.find((candidate) => text.startsWith(`${candidate} `))
  if (method === undefined) throw new TypeError(text)
  return method
}

/** Returns the outcome of a match in one line. */
function outcome(router: ReturnType<typeof routerOf>, method: string, path: string): string {
  const match = router.match(method, path)
  switch (match.kind) {
    case 'found':
      return `${match.route.method} ${match.route.pattern} ${JSON.stringify(match.parameters)}`
    case 'redirect':
      return `redirect ${match.path}`
    case 'method_not_allowed':
      return `allow ${match.allow}`
    case 'not_found':
      return 'none'
  }
}

const router = routerOf(
  'GET /api/conversations',
  'POST /api/conversations',
  'GET /api/conversations/search',
  'GET /api/conversations/{conversation_id}',
  'DELETE /api/conversations/{conversation_id}',
  'GET /api/conversations/{conversation_id}/events/{event_id}',
  'GET /api/conversations/{conversation_id}/events/search',
  'POST /api/conversations/{id}/run',
  'GET /api/conversations/{id}/workspace',
  'GET /api/conversations/{id}/workspace/{path...}',
  'GET /api/tools/',
  'PUT /only',
)

const table: readonly [string, string, string][] = [
  ['GET', '/api/conversations', 'GET /api/conversations {}'],
  ['POST', '/api/conversations', 'POST /api/conversations {}'],
  ['HEAD', '/api/conversations', 'GET /api/conversations {}'],
  ['GET', '/api/conversations/search', 'GET /api/conversations/search {}'],
  ['GET', '/api/conversations/x', 'GET /api/conversations/{conversation_id} {"conversation_id":"x"}'],
  ['DELETE', '/api/conversations/search', 'allow GET, HEAD'],
  ['GET', '/api/conversations/c/events/e',
    'GET /api/conversations/{conversation_id}/events/{event_id} {"conversation_id":"c","event_id":"e"}'],
  ['GET', '/api/conversations/c/events/search',
    'GET /api/conversations/{conversation_id}/events/search {"conversation_id":"c"}'],
  ['POST', '/api/conversations/search/run', 'POST /api/conversations/{id}/run {"id":"search"}'],
  ['GET', '/api/conversations/c/workspace', 'GET /api/conversations/{id}/workspace {"id":"c"}'],
  ['GET', '/api/conversations/c/workspace/', 'GET /api/conversations/{id}/workspace/{path...} {"id":"c","path":""}'],
  ['GET', '/api/conversations/c/workspace/a/b.html',
    'GET /api/conversations/{id}/workspace/{path...} {"id":"c","path":"a/b.html"}'],
  ['GET', '/api/conversations/c/workspace/a/',
    'GET /api/conversations/{id}/workspace/{path...} {"id":"c","path":"a/"}'],
  ['GET', '/api/conversations/c/workspace//etc/passwd', 'none'],
  ['GET', '/api/conversations/c/workspace/a//b', 'none'],
  ['GET', '/api/tools/', 'GET /api/tools/ {}'],
  ['GET', '/api/tools', 'redirect /api/tools/'],
  ['GET', '/api/conversations/', 'redirect /api/conversations'],
  ['DELETE', '/api/conversations/', 'redirect /api/conversations'],
  ['GET', '/api/conversations/x/', 'redirect /api/conversations/x'],
  ['GET', '/api/conversations/x//', 'none'],
  ['PUT', '/api/conversations', 'allow GET, POST, HEAD'],
  ['OPTIONS', '/api/conversations/search', 'allow GET, HEAD'],
  ['OPTIONS', '/api/conversations/x', 'allow GET, DELETE, HEAD'],
  ['GET', '/only', 'allow PUT'],
  ['HEAD', '/only', 'allow PUT'],
  ['get', '/api/conversations', 'allow GET, POST, HEAD'],
  ['GET', '/api', 'none'],
  ['GET', '/', 'none'],
  ['GET', '*', 'none'],
  ['GET', '//api/conversations', 'none'],
  ['GET', '/api//conversations', 'none'],
  ['GET', '/api/conversations/c/events', 'none'],
  ['GET', '/API/conversations', 'none'],
  ['GET', '/__proto__', 'none'],
  ['GET', '/constructor/x', 'none'],
]

for (const [method, path, expected] of table) {
  test(`${method} ${path} leads to ${expected}`, () => assert.is(outcome(router, method, path), expected))
}

test('decodes a parameter once, after the split', () => {
  assert.is(outcome(routerOf('GET /a/{x}'), 'GET', '/a/%C3%A9%20%2Fb%252F'), 'GET /a/{x} {"x":"é /b%2F"}')
})

test('decodes every segment of a tail', () => {
  assert.is(outcome(routerOf('GET /a/{x...}'), 'GET', '/a/b%20c/%C3%A9'), 'GET /a/{x...} {"x":"b c/é"}')
})

test('refuses an encoded slash in a tail, even where it is the only one', () => {
  for (const path of ['/a/%2Fetc', '/a/%2fetc%2fpasswd', '/a/b/..%2F..']) {
    assertBadRequest(routerOf('GET /a/{x...}'), path)
  }
})

test('refuses a parameter that is not percent-encoded UTF-8, or holds a zero character', () => {
  for (const path of ['/a/%', '/a/%zz', '/a/%c3', '/a/%ff', '/a/%00', '/a/%ed%a0%80']) {
    assertBadRequest(routerOf('GET /a/{x}'), path)
  }
})

test('finds a route without methods of its own below it, and none above it', () => {
  assert.is(outcome(routerOf('GET /a/b/c'), 'GET', '/a/b'), 'none')
})

test('goes back to a parameter when the literal leads nowhere', () => {
  const small = routerOf('GET /a/b/c', 'GET /a/{x}/d', 'GET /{y}/b/e', 'GET /{rest...}')
  assert.is(outcome(small, 'GET', '/a/b/c'), 'GET /a/b/c {}')
  assert.is(outcome(small, 'GET', '/a/b/d'), 'GET /a/{x}/d {"x":"b"}')
  assert.is(outcome(small, 'GET', '/a/b/e'), 'GET /{y}/b/e {"y":"a"}')
  assert.is(outcome(small, 'GET', '/a/b/f'), 'GET /{rest...} {"rest":"a/b/f"}')
  assert.is(outcome(small, 'PUT', '/a/b/f'), 'allow GET, HEAD')
})

test('refuses a table that cannot be meant', () => {
  const wrong: readonly string[][] = [
    ['GET /a', 'GET /a'],
    ['GET /{a}', 'GET /{b}'],
    ['GET /{a}/{a}'],
    ['GET /{a...}/b'],
    ['GET /a{b}'],
    ['GET /{B}'],
  ]
  for (const patterns of wrong) assert.throws(() => routerOf(...patterns), TypeError, patterns.join())
  assert.throws(() => createRouter([{ method: 'GET', pattern: 'a' }]), /does not begin/)
})

test('gives the value of a parameter and reports one that the pattern does not have', () => {
  assert.is(parameterOf({ a: 'b' }, 'a'), 'b')
  assert.throws(() => parameterOf({ a: 'b' }, 'c'), /no parameter "c"/)
})

function assertBadRequest(small: ReturnType<typeof routerOf>, path: string): void {
  try {
    small.match('GET', path)
    assert.unreachable(path)
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'bad_request', path)
  }
}

test.run()
