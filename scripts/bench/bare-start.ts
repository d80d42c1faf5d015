/**
 * The limit of a start: the shortest server of node:http, which says where it listens.
 */
import { createServer } from 'node:http'

const server = createServer((_request, response) => response.end('{}'))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.stdout.write(`http://127.0.0.1:${address?.port}\n`)
})
