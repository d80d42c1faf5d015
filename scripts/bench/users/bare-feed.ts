/**
 * The history of a bare program: a file to which each kept piece is written and synced, and sockets that get each
 * published piece as it is.
 */
import { once } from 'node:events'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { answer, portOf } from '../child.ts'

export class BareFeed {
  readonly #folder: string
  readonly #file: FileHandle
  readonly #sockets = new Set<Duplex>()

  private constructor(folder: string, file: FileHandle) {
    this.#folder = folder
    this.#file = file
  }

  static async open(): Promise<BareFeed> {
    const folder = await mkdtemp(join(tmpdir(), 'bench-feed-'))
    return new BareFeed(folder, await open(join(folder, 'history'), 'a'))
  }

  async keep(bytes: Buffer): Promise<void> {
    await this.#file.appendFile(bytes)
    await this.#file.datasync()
  }

  publish(bytes: Buffer | string): void {
    for (const socket of this.#sockets) socket.write(bytes)
  }

  /** Listens, upgrades sockets, and answers the benchmark as its child. The end calls `stop` and removes the file. */
  async serve(server: Server, stop: () => void = () => undefined): Promise<void> {
    server.on('upgrade', (_request, socket: Duplex) => {
      socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket))
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      this.#sockets.add(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    answer({ port: () => portOf(server) }, async () => {
      server.close()
      server.closeAllConnections()
      for (const socket of this.#sockets) socket.destroy()
      stop()
      await this.#file.close()
      await rm(this.#folder, { recursive: true, force: true })
    })
  }
}
