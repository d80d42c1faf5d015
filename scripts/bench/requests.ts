/**
 * A load of GET requests over plain sockets: each connection sends the next request when it has the whole answer.
 *
 * It does as little as it can, so that the figure is the server's. Every request is the same bytes. Of an answer only
 * the status and the end of the head are looked at, since all bodies have the same length.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Load {
  readonly port: number
  readonly connections: number
  /** The whole request. */
  readonly request: Buffer
  readonly bodyBytes: number
}

const ok = 'HTTP/1.1 200 '
const headEnd = '\r\n\r\n'

/** Opens the connections; the function that is returned sends so many requests and resolves when all are answered. */
export async function openLoad(load: Load): Promise<{ run(count: number): Promise<void>; close(): void }> {
  const sockets = Array.from({ length: load.connections }, () => {
    return connect({ port: load.port, host: '127.0.0.1', noDelay: true })
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return {
    async run(count) {
      let left = count
      const more = (): boolean => left-- > 0
      await Promise.all(sockets.map((socket) => work(socket, load, more)))
    },
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Uses one connection as long as there is more to ask for. */
function work(socket: Socket, { request, bodyBytes }: Load, more: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer | undefined
    const next = (): void => {
      if (more()) socket.write(request)
      else stop()
    }
    const onData = (chunk: Buffer): void => {
      received = received === undefined ? chunk : Buffer.concat([received, chunk])
      const end = received.indexOf(headEnd)
      if (end === -1 || received.length < end + headEnd.length + bodyBytes) return
      if (received.toString('latin1', 0, ok.length) !== ok) {
        return stop(new Error(`Expected 200, got "${received.toString('latin1', 0, 40)}"`))
      }
      received = undefined
      next()
    }
    const onClose = (): void => stop(new Error('The server closed a connection'))
    const stop = (error?: Error): void => {
      socket.off('data', onData).off('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.on('data', onData).on('close', onClose)
    next()
  })
}
