/** The headers that a redirect may keep, and the addresses that it may lead to. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { nextHop, type RedirectedRequest } from '../../../src/parts/net/redirect.ts'
import { suite } from '../../support/suite.ts'

const test = suite('net/redirect')

const post: RedirectedRequest = {
  method: 'POST',
  url: new URL('https://a.example/x/y?key=s3cret'),
  headers: {
    Accept: '*/*', Authorization: 's3cret', 'x-api-key': 's3cret', Cookie: 's3cret', 'Content-Type': 'a/b',
    'User-Agent': 'u',
  },
  body: 'body',
}
const get: RedirectedRequest = { method: 'GET', url: post.url, ...(post.headers && { headers: post.headers }) }

/** Method, URL, names of headers and body, in one line; or the message of the refusal. */
function hop(request: RedirectedRequest, status: number, location?: string): string {
  try {
    const next = nextHop(request, status, location)
    if (next === undefined) return 'none'
    return `${next.method} ${next.url.href} [${Object.keys(next.headers).join(' ')}] ${String(next.body)}`
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'upstream_failed' && !error.message.includes('s3cret'))
    return error.message
  }
}

const every = '[Accept Authorization x-api-key Cookie Content-Type User-Agent]'
const withoutBody = '[Accept Authorization x-api-key Cookie User-Agent]'
const said = 'Could not follow https://a.example: its redirect'

const table: readonly [string, RedirectedRequest, number, string | undefined, string][] = [
  ['no status of a redirect', post, 200, '/z', 'none'],
  ['304', get, 304, '/z', 'none'],
  ['no location', post, 302, undefined, 'none'],
  ['307 keeps method and body', post, 307, '/z', `POST https://a.example/z ${every} body`],
  ['308 too, relative to the path', post, 308, 'z', `POST https://a.example/x/z ${every} body`],
  ['301 makes a POST a GET', post, 301, '/z', `GET https://a.example/z ${withoutBody} `],
  ['302 too', post, 302, '/z', `GET https://a.example/z ${withoutBody} `],
  ['301 leaves a PUT alone', { ...post, method: 'PUT' }, 301, '/z', `PUT https://a.example/z ${every} body`],
  ['303 makes anything a GET', { ...post, method: 'PUT' }, 303, '/z', `GET https://a.example/z ${withoutBody} `],
  ['303 leaves HEAD alone', { ...get, method: 'HEAD' }, 303, '/z', `HEAD https://a.example/z ${every} `],
  ['another origin gets no credentials', get, 302, 'https://b.example/z',
    'GET https://b.example/z [Accept Content-Type User-Agent] '],
  ['another port is another origin', get, 302, 'https://a.example:8443/',
    'GET https://a.example:8443/ [Accept Content-Type User-Agent] '],
  ['another origin gets no body', post, 307, 'https://b.example/', `${said} would take the body to another origin`],
  ['none from https to http', get, 302, 'http://a.example/', `${said} leads to http:`],
  ['none to another scheme', get, 302, 'file:///etc/passwd', `${said} leads to file:`],
  ['http to https is fine', { method: 'GET', url: new URL('http://a.example/') }, 302, 'https://a.example/',
    'GET https://a.example/ [] '],
  ['http to another scheme is not', { method: 'GET', url: new URL('http://a.example/') }, 302, 'ftp://a/',
    'Could not follow http://a.example: its redirect leads to ftp:'],
  ['no credentials in the location', get, 302, 'https://u:s3cret@a.example/', `${said} holds credentials`],
  ['no nonsense', get, 302, 'https://', `${said} leads to no URL`],
]
for (const [name, request, status, location, expected] of table) {
  test(name, () => assert.is(hop(request, status, location), expected))
}

test.run()
