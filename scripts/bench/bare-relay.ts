/**
 * The least a relay could do, as a child: it splits the agent's output into lines and writes each line to every socket.
 * Its arguments are those of relay-server; each agent has sockets and a file of its own.
 *
 * With `keep` on, a line that is no piece of text goes to a file first and is synced; lines that come meanwhile go
 * together into the next write, as the server's log does it. Nothing is parsed, checked, masked or framed.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { answer, portOf } from './child.ts'
import { pipedAgent } from './piped-agent.ts'

const lineFeed = 0x0a
const pieceOfText = Buffer.from('"agent_message_chunk"')
const program = fileURLToPath(new URL(`relay-agent${/\.\w+$/.exec(import.meta.url)?.[0]}`, import.meta.url))
const [, , count = 1, pipes] = process.argv
const folder = await mkdtemp(join(tmpdir(), 'bench-relay-'))
let keep = false

/** One agent, and the sockets and the file that its lines go to. */
class Line {
  readonly sockets = new Set<Socket>()
  readonly agent: ChildProcessByStdio<Writable, Readable, null>
  readonly file: FileHandle
  #rest: Buffer = Buffer.alloc(0)
  #waiting: Buffer[] = []
  #isWriting = false

  constructor(file: FileHandle, [command, ...args]: readonly [string, ...string[]]) {
    this.file = file
    this.agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.agent.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed)) {
      this.#take(bytes.subarray(0, end + 1))
      bytes = bytes.subarray(end + 1)
    }
    this.#rest = bytes
  }

  #take(line: Buffer): void {
    if (!keep || line.includes(pieceOfText)) return this.#publish(line)
    this.#waiting.push(line)
    if (!this.#isWriting) void this.#write()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const lines = this.#waiting
      this.#waiting = []
      await this.file.appendFile(Buffer.concat(lines))
      await this.file.datasync()
      for (const line of lines) this.#publish(line)
    }
    this.#isWriting = false
  }

  #publish(line: Buffer): void {
    for (const socket of this.sockets) socket.write(line)
  }
}

const names = Array.from({ length: Number(count) }, (_, index) => String(index))
const lines = await Promise.all(names.map(async (name, index) => {
  return new Line(
    await open(join(folder, name), 'a'), pipes === undefined ? [process.execPath, program] : pipedAgent(pipes, index),
  )
}))

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.once('data', (head: Buffer) => {
    const line = lines[Number(/^GET \/(\d+) /.exec(head.toString('latin1'))?.[1] ?? 0)]
    socket.once('close', () => line?.sockets.delete(socket))
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    line?.sockets.add(socket)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

answer(
  {
    where: () => ({ port: portOf(server), key: '', paths: names.map((name) => `/${name}`) }),
    keep: (value) => void (keep = value === true),
    prompt(text) {
      const message = { jsonrpc: '2.0', id: 0, method: 'session/prompt', params: { text } }
      for (const { agent } of lines) agent.stdin.write(`${JSON.stringify(message)}\n`)
    },
  },
  async () => {
    server.close()
    for (const { agent, sockets, file } of lines) {
      agent.kill()
      for (const socket of sockets) socket.destroy()
      await file.close()
    }
    await rm(folder, { recursive: true, force: true })
  },
)
