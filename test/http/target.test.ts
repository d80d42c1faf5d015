/**
 * Request targets: the forms of RFC 9112, section 3.2, and targets that are refused because they could be read in two
 * ways.
 */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { parseTarget } from '../../src/http/target.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/target')

test('splits a target into path and query', () => {
  assert.equal(parseTarget('/a/b?c=d?e', 100), { authority: undefined, path: '/a/b', query: 'c=d?e' })
  assert.equal(parseTarget('/', 100), { authority: undefined, path: '/', query: '' })
  assert.equal(parseTarget('/a?', 100), { authority: undefined, path: '/a', query: '' })
  assert.equal(parseTarget('*', 100), { authority: undefined, path: '*', query: '' })
})

test('leaves percent-encoding, empty segments and dots inside names alone', () => {
  for (const path of ['/a%2fb', '//a', '/a//b/', '/a.b/..c/d..', '/.hidden', '/...', '/a%2e', '/%2emore', '/%c3%a9']) {
    assert.is(parseTarget(path, 100).path, path)
  }
})

test('understands absolute form and returns its authority', () => {
  assert.equal(parseTarget('http://h:80/a?b', 100), { authority: 'h:80', path: '/a', query: 'b' })
  assert.equal(parseTarget('HTTPS://h', 100), { authority: 'h', path: '/', query: '' })
  assert.equal(parseTarget('http://h?b', 100), { authority: 'h', path: '/', query: 'b' })
})

test('refuses dot segments, also encoded ones', () => {
  for (const path of ['/.', '/..', '/a/../b', '/a/./b', '/%2e%2e/a', '/a/.%2E', '/%2E', 'http://h/..']) {
    assert.throws(() => parseTarget(path, 100), isBadRequest, path)
  }
})

test('ignores dot segments in the query', () => {
  assert.is(parseTarget('/a?path=/../b', 100).query, 'path=/../b')
})

test('refuses what is no target of a request to an origin server', () => {
  for (const target of ['', 'a', 'h:80', 'ftp://h/', 'http:///a', '/a#b', '/a b', '/é', '/a\n', '/\u0000']) {
    assert.throws(() => parseTarget(target, 100), isBadRequest, target)
  }
})

test('refuses a target above the limit and takes one at it', () => {
  assert.is(parseTarget(`/${'a'.repeat(99)}`, 100).path.length, 100)
  assert.throws(
    () => parseTarget(`/${'a'.repeat(100)}`, 100),
    (error: unknown) => error instanceof AppError && error.code === 'uri_too_long' && error.message.includes('100'),
  )
})

test('never quotes the target, which may carry a key', () => {
  try {
    parseTarget('/sécret?session_api_key=sécret', 100)
    assert.unreachable()
  } catch (error) {
    assert.ok(error instanceof AppError && !error.message.includes('cret'))
  }
})

function isBadRequest(error: unknown): boolean {
  return error instanceof AppError && error.code === 'bad_request'
}

test.run()
