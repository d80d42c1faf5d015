/** A quiet stream of server-sent events, in time that the test moves. */
import * as assert from 'uvu/assert'
import { request, type IncomingMessage } from 'node:http'
import { mock } from 'node:test'
import { until } from '../support/processes.ts'
import { withServer, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk } from './talk.ts'

const test = suite('e2e/heartbeat')
const heartbeatMs = 15_000

mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())

function open({ url, key }: TestServer, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url + path, { headers: { 'X-Session-API-Key': key }, agent: false }, resolve).on('error', reject).end()
  })
}

test('a comment goes out every 15 seconds to a client that would hear nothing', () => withServer(async (server) => {
  const talk = await startTalk(server, 'echo')
  const response = await open(server, `${talk.path}/events/stream`)
  let text = ''
  response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const comments = (): number => text.match(/^:$/gm)?.length ?? 0
  await until(() => text.includes('"full_state"'))
  mock.timers.tick(heartbeatMs - 1)
  // Every earlier write would stand before this event.
  await talk.send('hello', false)
  await until(() => text.includes('hello'))
  assert.is(comments(), 0)
  for (const count of [1, 2, 3]) {
    mock.timers.tick(heartbeatMs)
    await until(() => comments() === count)
  }
  response.destroy()
}))

test.run()
