import { request } from 'node:http'
import * as assert from 'uvu/assert'
import { textAt } from '../../support/rest.ts'
import { startServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { visit } from './visitor.ts'

const test = suite('parts/console: changes', 30_000)

test('one stream tells of every conversation: created, renamed, removed; it ends with the session', async () => {
  const server = await startServer()
  const visitor = await visit(server)
  let text = ''
  let wake = (): void => undefined
  const ended = new Promise<void>((resolve, reject) => {
    const headers = { ...visitor.headers }
    request(`${server.url}/api/console/changes`, { headers, agent: false }, (response) => {
      assert.is(response.headers['content-type'], 'text/event-stream')
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        wake()
      })
      response.on('close', resolve)
      response.on('error', () => undefined)
    }).on('error', reject).end()
  })
  const told = async (part: string): Promise<void> => {
    while (!text.includes(part)) await new Promise<void>((resolve) => (wake = resolve))
  }
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

test.run()
