/** Which framing has one meaning, and which requests are served behind which answer, on a host's own server too. */
import { createServer, IncomingMessage, ServerResponse, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { framingFault, mayServe, newestAnswer } from '../../src/http/framing.ts'
import { suite } from '../support/suite.ts'
import { exchange, statuses } from './raw-client.ts'
import { sendJson } from './serve.ts'

const test = suite('http/framing')

const cases: readonly [httpVersion: string, codings: readonly string[], status: 400 | 501 | undefined][] = [
  ['1.1', [], undefined], ['1.0', [], undefined],
  ['1.1', ['chunked'], undefined], ['1.1', ['Chunked'], undefined],
  ['1.0', ['chunked'], 400], ['1.0', ['gzip, chunked'], 400],
  ['1.1', ['gzip, chunked'], 501], ['1.1', ['identity, chunked'], 501], ['1.1', ['gzip', 'chunked'], 501],
  ['1.1', ['chunked, chunked'], 400], ['1.1', ['chunked', 'chunked'], 400], ['1.1', ['chunked, gzip'], 400],
  ['1.1', ['gzip'], 400],
  ['1.1', [''], 400], ['1.1', ['chunked,'], 400], ['1.1', ['chunked;a=b'], 400],
]
for (const [httpVersion, codings, status] of cases) {
  test(`HTTP/${httpVersion} with Transfer-Encoding ${JSON.stringify(codings)}: ${status ?? 'one meaning'}`, () => {
    const request = new IncomingMessage(new Socket())
    request.httpVersion = httpVersion
    request.rawHeaders = codings.flatMap((coding) => ['Transfer-Encoding', coding])
    assert.is(framingFault(request), status)
  })
}

test('serves nothing behind an answer that closes the connection', () => {
  const request = new IncomingMessage(new Socket())
  const [first, second, third] = [1, 2, 3].map(() => new ServerResponse(request))
  assert.ok(first !== undefined && second !== undefined && third !== undefined)
  for (const answer of [first, second]) {
    answer.shouldKeepAlive = true
    assert.ok(mayServe(request, answer))
  }
  second.shouldKeepAlive = false
  assert.ok(mayServe(request, second))
  assert.not.ok(mayServe(request, third))
  assert.is(newestAnswer(request.socket), second)
})

test("serves nothing behind an unwanted body on a host's own server", async () => {
  const served: (string | undefined)[] = []
  const handle: RequestListener = (request, response) => {
    if (!mayServe(request, response)) return
    served.push(request.url)
    sendJson({ request, response, requestId: 'x', headers: [] }, 401, null)
  }
  const host = createServer(handle)
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const address = host.address()
  assert.ok(typeof address === 'object' && address !== null)
  const body = 'x'.repeat(200_000)
  const text = await exchange(
    address.port,
    `POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}GET /2 HTTP/1.1\r\nHost: a\r\n\r\n`,
  )
  assert.equal(statuses(text), [401])
  assert.equal(served, ['/1'])
  await new Promise((resolve) => host.close(resolve))
})

test.run()
