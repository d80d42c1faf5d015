/**
 * A program that answers requests of JSON-RPC on its standard input with their own parameters: by the peer of this
 * server, or by the shortest loop that splits lines, parses them and prints answers, which knows no errors and no limits.
 */
import { Socket } from 'node:net'
import { isObject } from '../../src/base/json.ts'
import { LineFraming } from '../../src/rpc/lines.ts'
import { RpcPeer } from '../../src/rpc/peer.ts'
import { answer } from './child.ts'

// Not process.stdin and process.stdout: writing to those waits.
const input = new Socket({ fd: 0, readable: true, writable: false })
const output = new Socket({ fd: 1, readable: false, writable: true })

answer(
  {
    begin(side) {
      if (side === 'ours') new RpcPeer({ framing: new LineFraming({ input, output }), onRequest: ({ params }) => params })
      else input.on('data', splitLines(reply))
    },
  },
  () => {
    input.destroy()
    output.destroy()
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

function reply(line: string): void {
  const request: unknown = JSON.parse(line)
  if (!isObject(request)) throw new TypeError('Expected a request')
  output.write(`${JSON.stringify({ jsonrpc: '2.0', id: request['id'], result: request['params'] })}\n`)
}
