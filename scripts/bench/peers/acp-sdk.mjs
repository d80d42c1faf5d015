/**
 * The SDK of the Agent Client Protocol in the place of this server's JSON-RPC, as a child that answers like rpc-echo.
 * Argument: the folder in whose node_modules it is. Plain JavaScript, because it is not there when this is compiled.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { answer } from '../../../dist/scripts/bench/child.js'

const [folder] = process.argv.slice(2)
const sdk = join(folder, 'node_modules', '@agentclientprotocol', 'sdk', 'dist', 'v1', 'stable', 'acp.js')
const { agent, ndJsonStream } = await import(pathToFileURL(sdk).href)
const place = mkdtempSync(join(tmpdir(), 'bench-rpc-'))

answer(
  {
    async listen() {
      const server = createServer((socket) => {
        server.close()
        socket.on('error', () => socket.destroy())
        const stream = ndJsonStream(Writable.toWeb(socket), Readable.toWeb(socket))
        agent({ name: 'echo' }).onRequest('*', ({ params }) => params).connect(stream)
      })
      const path = join(place, 'socket')
      server.listen(path)
      await once(server, 'listening')
      return path
    },
  },
  () => {
    rmSync(place, { recursive: true, force: true })
    process.exit()
  },
)
