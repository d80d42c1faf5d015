/**
 * A web framework in the place of this server's HTTP: one route that checks a key and looks an event up in a Map of
 * bytes. Arguments: the folder in whose node_modules the frameworks are, then `fastify` or `hono`. Prints its address;
 * as a child it answers questions too. Plain JavaScript, because the frameworks are not there when this is compiled.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder, framework] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const path = '/api/conversations/:conversation_id/events/:event_id'
const events = new Map()
const answerHeaders = {}
let key = ''

const port = await { fastify: startFastify, hono: startHono }[framework]()
process.stdout.write(`http://127.0.0.1:${port}\n`)

if (process.send !== undefined) {
  const { answer, asBytes } = await import('../../../dist/scripts/bench/child.js')
  answer(
    {
      port: () => port,
      prepare({ id, body, headers, sessionKey }) {
        events.set(id, asBytes(body))
        key = sessionKey
        for (let index = 0; index < headers.length; index += 2) answerHeaders[headers[index]] = headers[index + 1]
      },
    },
    () => process.exit(),
  )
}

async function startFastify() {
  const app = require('fastify')()
  app.get('/alive', () => '{}')
  app.get(path, (request, reply) => {
    if (request.headers['x-session-api-key'] !== key) return reply.code(401).send()
    return reply.headers(answerHeaders).send(events.get(request.params.event_id))
  })
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

async function startHono() {
  const { Hono } = require('hono')
  const { serve } = require('@hono/node-server')
  const app = new Hono()
  app.get('/alive', (context) => context.text('{}'))
  app.get(path, (context) => {
    if (context.req.header('x-session-api-key') !== key) return context.body(null, 401)
    return context.body(events.get(context.req.param('event_id')), 200, answerHeaders)
  })
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (info) => resolve(info.port))
  })
}
