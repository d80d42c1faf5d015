import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { owner } from '../../../src/api/permission.ts'
import type { ConversationFollower } from '../../../src/conversation/list/followers.ts'
import { Changes } from '../../../src/parts/console/changes.ts'
import { textAt } from '../../support/rest.ts'
import { startServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { portOf } from '../../support/ws-pair.ts'
import { visit } from './visitor.ts'

const test = suite('parts/console: changes', 30_000)

interface Stream {
  readonly response: IncomingMessage
  readonly ended: Promise<void>
  /** Resolves when the stream has sent the text. */
  told(part: string): Promise<void>
}

function open(url: string, headers: OutgoingHttpHeaders = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      let text = ''
      let wake = (): void => undefined
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        wake()
      })
      response.on('error', () => undefined)
      resolve({
        response,
        ended: new Promise((close) => void response.on('close', close)),
        async told(part) {
          while (!text.includes(part)) await new Promise<void>((read) => (wake = read))
        },
      })
    }).on('error', reject).end()
  })
}

test('one stream tells of every conversation: created, renamed, removed; it ends with the session', async () => {
  const server = await startServer()
  const visitor = await visit(server)
  const { response, told, ended } = await open(`${server.url}/api/console/changes`, { ...visitor.headers })
  assert.is(response.headers['content-type'], 'text/event-stream')
  await told(': open')
  const id = textAt((await server.rest.post('/api/conversations', {})).json, 'id')
  await told(`"id":"${id}"`)
  await server.rest.patch(`/api/conversations/${id}`, { title: 'A new name' })
  await told('"title":"A new name"')
  await server.rest.delete(`/api/conversations/${id}`)
  await told(`{"id":"${id}","removed":true}`)
  await server.rest.send('POST', '/api/console/sign-out', { headers: visitor.headers })
  await ended
  await server.close()
})

test('changes fill no memory while a client does not read; it gets the newest state when it reads', async () => {
  let version = 0
  const followers: ConversationFollower[] = []
  const changes = new Changes({
    follow: (follower) => {
      followers.push(follower)
      return () => undefined
    },
    hasTag: () => true,
    info: async () => ({ title: `version ${version} of ${'x'.repeat(1024 * 1024)}` }),
  })
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => {
    responses.push(response)
    changes.serve({ principal: owner }).stream?.(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${portOf(server.address())}/`
  const stalled = await open(url)
  const reader = await open(url)
  const change = async (): Promise<void> => {
    version += 1
    for (const follower of followers) follower.changed('one')
    await reader.told(`version ${version} of`)
  }
  stalled.response.pause()
  while (responses[0]?.writableNeedDrain !== true) await change()
  const held = responses[0].writableLength
  for (let count = 0; count < 5; count += 1) await change()
  assert.is(responses[0].writableLength, held)
  stalled.response.resume()
  await stalled.told(`version ${version} of`)
  changes.close()
  server.close()
  await Promise.all([stalled.ended, reader.ended])
})

test.run()
