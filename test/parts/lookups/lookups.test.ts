import { createServer } from 'node:http'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { start } from '../../../src/parts/lookups/start.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/lookups')

test('gives the body of a response with the status 200, and an error for another status', async () => {
  const server = createServer(({ url, headers }, response) => {
    response.writeHead(url === '/secret' ? 200 : 403).end(`value for ${String(headers['x-token'])}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const { fetchText } = start().offers ?? {}
    assert.ok(fetchText)
    const fetched = (path: string): Promise<string> => fetchText({
      url: `http://127.0.0.1:${address.port}${path}`, headers: { 'X-Token': 'abc' },
      timeoutMs: 10_000, limitBytes: 100, signal: new AbortController().signal,
    })
    assert.is(await fetched('/secret'), 'value for abc')
    const refused = await fetched('/other').catch((thrown: unknown) => thrown)
    assert.ok(refused instanceof AppError)
    assert.is(refused.code, 'upstream_failed')
    assert.match(refused.message, '403')
  } finally {
    server.close()
  }
})

test.run()
