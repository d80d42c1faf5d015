/**
 * A program that answers requests of JSON-RPC with their own parameters: by the peer of this server, or by the shortest
 * loop that splits lines, parses them and prints answers, which knows no errors and no limits.
 *
 * They come through a Unix socket, since Node gives a program Unix sockets as the pipes of its input and output.
 */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { LineFraming } from '../../src/rpc/lines.ts'
import { RpcPeer } from '../../src/rpc/peer.ts'
import { answer } from './child.ts'

const folder = await mkdtemp(join(tmpdir(), 'bench-rpc-'))
let socket: Socket | undefined

answer(
  {
    /** Gives the path to connect to, once. */
    async listen(side) {
      const server = createServer((connected) => {
        server.close()
        socket = connected
        if (side === 'ours') {
          new RpcPeer({
            framing: new LineFraming({ input: connected, output: connected }), onRequest: ({ params }) => params,
          })
        } else connected.on('data', splitLines((line) => connected.write(answerTo(line))))
      })
      const path = join(folder, 'socket')
      server.listen(path)
      await once(server, 'listening')
      return path
    },
  },
  async () => {
    socket?.destroy()
    await rm(folder, { recursive: true, force: true })
  },
)

function splitLines(onLine: (line: string) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  return (chunk) => {
    let at = 0
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', at)) {
      const last = chunk.subarray(at, end)
      onLine((parts.length === 0 ? last : Buffer.concat([...parts, last])).toString())
      parts = []
      at = end + 1
    }
    if (at < chunk.length) parts.push(chunk.subarray(at))
  }
}

function answerTo(line: string): string {
  const request: unknown = JSON.parse(line)
  if (!isObject(request)) throw new TypeError('Expected a request')
  return `${JSON.stringify({ jsonrpc: '2.0', id: request['id'], result: request['params'] })}\n`
}
