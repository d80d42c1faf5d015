/**
 * The limit of answering a request, as a child: node:http answers every request with the same bytes. They are ready in
 * memory, or read from a file each time.
 */
import { once } from 'node:events'
import { read } from 'node:fs'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { answer, asBytes, portOf } from './child.ts'

const folder = await mkdtemp(join(tmpdir(), 'bench-bare-'))
const path = join(folder, 'body')
const file = await open(path, 'w+')
let headers: string[] = []
let body = Buffer.alloc(0)
let isInMemory = true

const server = createServer((_request, response) => {
  if (isInMemory) return reply(response, body)
  read(file.fd, Buffer.allocUnsafe(body.length), 0, body.length, 0, (error, _bytes, buffer) => {
    if (error === null) reply(response, buffer)
    else response.destroy(error)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    port: () => portOf(server),
    async prepare(given) {
      if (!isObject(given) || !Array.isArray(given['headers'])) throw new TypeError('Expected headers and a body')
      headers = given['headers'].map(String)
      body = asBytes(given['body'])
      isInMemory = given['source'] === 'memory'
      await writeFile(path, body)
    },
  },
  async () => {
    server.close()
    server.closeAllConnections()
    await file.close()
    await rm(folder, { recursive: true, force: true })
  },
)

function reply(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, headers)
  response.end(bytes)
}
