/**
 * The least a relay could do, as a child: it splits what the agent writes into lines and writes each to every socket.
 *
 * With `keep` on, a line goes to a file first and is synced; lines that come meanwhile go together into the next write,
 * as the server's log does it. Nothing is parsed, checked, masked or framed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answer, portOf } from './child.ts'

const lineFeed = 0x0a
const program = fileURLToPath(new URL(`relay-agent${/\.\w+$/.exec(import.meta.url)?.[0]}`, import.meta.url))
const agent = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
const folder = await mkdtemp(join(tmpdir(), 'bench-relay-'))
const file = await open(join(folder, 'lines'), 'a')
const sockets = new Set<Socket>()
let keep = false
let rest: Buffer = Buffer.alloc(0)
let waiting: Buffer[] = []
let isWriting = false

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.once('close', () => sockets.delete(socket))
  socket.once('data', () => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    sockets.add(socket)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

agent.stdout.on('data', (chunk: Buffer) => {
  let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
  for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed)) {
    take(bytes.subarray(0, end + 1))
    bytes = bytes.subarray(end + 1)
  }
  rest = bytes
})

answer(
  {
    port: () => portOf(server),
    keep: (value) => void (keep = value === true),
    prompt(text) {
      agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'session/prompt', params: { text } })}\n`)
    },
  },
  async () => {
    agent.kill()
    server.close()
    for (const socket of sockets) socket.destroy()
    await file.close()
    await rm(folder, { recursive: true, force: true })
  },
)

function take(line: Buffer): void {
  if (!keep) return publish(line)
  waiting.push(line)
  if (!isWriting) void write()
}

async function write(): Promise<void> {
  isWriting = true
  while (waiting.length > 0) {
    const lines = waiting
    waiting = []
    await file.appendFile(Buffer.concat(lines))
    await file.datasync()
    for (const line of lines) publish(line)
  }
  isWriting = false
}

function publish(line: Buffer): void {
  for (const socket of sockets) socket.write(line)
}
