/** Where a sign-in may send requests, and where browsers come back to. */
import * as assert from 'uvu/assert'
import { isWithin } from '../../../../src/parts/mcp/oauth/discovery.ts'
import { addressIn, fetchDocument, reachOf } from '../../../../src/parts/mcp/oauth/documents.ts'
import { redirectUriOf } from '../../../../src/parts/mcp/oauth/redirect-uri.ts'
import { AppError, messageOf } from '../../../../src/base/errors.ts'
import { failure } from '../../../support/rpc.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/mcp/oauth/documents')
const signal = new AbortController().signal
const far = reachOf('https://mcp.example/mcp', signal)
const near = reachOf('http://127.0.0.1:9/mcp', signal)

function isTaken(value: unknown, reach = far): boolean {
  try {
    addressIn(value, 'address', reach)
    return true
  } catch (error) {
    assert.is(messageOf(error), 'Could not sign in: the address is no https address')
    return false
  }
}

test('a server elsewhere has us reach https addresses only', () => {
  for (const url of ['https://as.example', 'https://as.example:8443/a?b=c', 'https://10.0.0.1/']) {
    assert.ok(isTaken(url), url)
  }
  for (const url of [
    'http://as.example', 'http://127.0.0.1/', 'http://localhost/', 'ftp://as.example', 'https://u@as.example',
    'https://as.example/#a', 'data:,x', '', 7, undefined,
  ]) {
    assert.not(isTaken(url), String(url))
  }
})

test('one on this machine may have us reach this machine over http, and nothing else so', () => {
  for (const url of ['http://127.0.0.1:1/', 'http://localhost:1/', 'http://[::1]:1/', 'https://as.example']) {
    assert.ok(isTaken(url, near), url)
  }
  for (const url of ['http://as.example', 'http://10.0.0.1', 'http://localhost.example']) {
    assert.not(isTaken(url, near), url)
  }
})

test('a server over http elsewhere is none to sign in to', () => {
  for (const url of ['http://mcp.example', 'http://10.0.0.1/mcp', 'x', 'ws://127.0.0.1/']) {
    assert.throws(() => reachOf(url, signal), (error: unknown) => {
      return error instanceof AppError && error.code === 'bad_request'
    })
  }
})

test('an https address that is this machine is not reached for a server elsewhere', async () => {
  const error = await failure(fetchDocument({ method: 'GET', url: new URL('https://127.0.0.1:9/') }, far))
  assert.is(error instanceof AppError && error.code, 'address_refused')
  const link = await failure(fetchDocument({ method: 'GET', url: new URL('https://169.254.169.254/') }, near))
  assert.is(link instanceof AppError && link.code, 'address_refused')
})

test('a resource holds what is at its path and below it', () => {
  for (const [inner, outer, expected] of [
    ['https://a.example/mcp', 'https://a.example/mcp', true], ['https://a.example/mcp', 'https://a.example', true],
    ['https://a.example/mcp/x', 'https://a.example/mcp', true],
    ['https://a.example/mcp', 'https://a.example/mcp/', true],
    ['https://a.example/mcpx', 'https://a.example/mcp', false], ['https://a.example/', 'https://a.example/mcp', false],
    ['https://a.example:8443/mcp', 'https://a.example/mcp', false], ['x', 'https://a.example', false],
    ['https://a.example', 'x', false],
  ] as const) assert.is(isWithin(inner, outer), expected, `${inner} ${outer}`)
})

test('browsers come back to the public address, or to the loopback one', () => {
  const path = '/api/mcp/oauth/callback'
  for (const [publicUrl, url, expected] of [
    [undefined, 'http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    [undefined, 'http://0.0.0.0:8000', 'http://127.0.0.1:8000'],
    [undefined, 'http://[::1]:8000', 'http://[::1]:8000'], [undefined, 'http://[::]:8000', 'http://127.0.0.1:8000'],
    ['https://a.example', 'http://127.0.0.1:8000', 'https://a.example'],
    ['https://a.example/b/', undefined, 'https://a.example/b'],
  ] as const) assert.is(redirectUriOf({ publicUrl, urls: url === undefined ? [] : [url] }), expected + path)
  assert.throws(() => redirectUriOf({ publicUrl: undefined, urls: [] }), (error: unknown) => {
    return error instanceof AppError && error.code === 'unavailable'
  })
})

test.run()
