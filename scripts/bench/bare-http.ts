/**
 * The limit of answering a request, as a child: node:http writes bytes that are ready, whatever is asked for.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { isObject } from '../../src/base/json.ts'
import { answer, asBytes, portOf } from './child.ts'

let headers: string[] = []
let body = Buffer.alloc(0)

const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    prepare(given) {
      if (!isObject(given) || !Array.isArray(given['headers'])) throw new TypeError('Expected headers and a body')
      headers = given['headers'].map(String)
      body = asBytes(given['body'])
    },
  },
  () => {
    server.close()
    server.closeAllConnections()
  },
)
