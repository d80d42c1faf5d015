/**
 * A TCP proxy that cuts connections in the middle of their data.
 *
 * For every connection it draws a direction and a number of bytes; once so many have passed in that direction, both
 * sides are cut, with a reset or with an end, as is drawn too. After its last cut it passes everything on. Bytes that
 * passed before a cut arrive, or do not, as on a real network.
 */
import { connect, createServer, type Socket } from 'node:net'

export interface CuttingProxyOptions {
  /** Where connections lead to. */
  readonly target: URL
  /** From 0 up to 1. */
  readonly random: () => number
  /** How often to cut, at most. */
  readonly cutLimit: number
  /** How many bytes from the server the next connection to be cut lets pass on average; at most twice as many. */
  readonly meanBytes: () => number
}

export interface CuttingProxy {
  readonly url: string
  /** Cuts so far: on the way to the server, and on the way back. */
  readonly cuts: { toServer: number; toClient: number }
  /** From the server, of all connections. */
  readonly passedBytes: number
  close(): Promise<void>
}

/** Where, and how, a connection ends. */
interface Cut {
  readonly direction: 'toServer' | 'toClient'
  bytesLeft: number
  readonly withReset: boolean
}

/** Less than any request of a client of ours, so that every cut on this way leaves the server with a part of one. */
const headBytes = 150

export async function startCuttingProxy(
  { target, random, cutLimit, meanBytes }: CuttingProxyOptions,
): Promise<CuttingProxy> {
  const cuts = { toServer: 0, toClient: 0 }
  const sockets = new Set<Socket>()
  let planned = 0
  let passedBytes = 0
  const planCut = (): Cut | undefined => {
    if (planned >= cutLimit) return undefined
    planned++
    const direction = random() < 0.2 ? 'toServer' : 'toClient'
    const limit = direction === 'toServer' ? headBytes : 2 * meanBytes()
    return { direction, bytesLeft: Math.floor(random() * limit), withReset: random() < 0.5 }
  }
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    const cut = planCut()
    let isOpen = true
    const end = (withReset = false): void => {
      if (!isOpen) return
      isOpen = false
      // A connection that its own end closes first was not cut: the cut is left for another one.
      if (cut !== undefined && cut.bytesLeft >= 0) planned--
      for (const socket of [client, server]) {
        if (withReset) socket.resetAndDestroy()
        else socket.destroy()
      }
    }
    const pass = (from: Socket, to: Socket, direction: Cut['direction']): void => {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => end())
      from.on('close', () => {
        sockets.delete(from)
        end()
      })
      from.on('data', (bytes) => {
        if (!isOpen) return
        if (direction === 'toClient') passedBytes += bytes.length
        if (cut?.direction !== direction) return passOn(from, to, bytes)
        const part = bytes.subarray(0, cut.bytesLeft)
        cut.bytesLeft -= bytes.length
        if (cut.bytesLeft >= 0) return passOn(from, to, part)
        cuts[direction]++
        to.write(part)
        end(cut.withReset)
      })
    }
    pass(client, server, 'toServer')
    pass(server, client, 'toClient')
  })
  const port = await new Promise<number>((resolve, reject) => {
    proxy.on('error', reject)
    proxy.listen(0, '127.0.0.1', () => {
      const address = proxy.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    cuts,
    get passedBytes() {
      return passedBytes
    },
    close: () => new Promise((resolve) => {
      proxy.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    }),
  }
}

/** With regard to the back-pressure of the other side. */
function passOn(from: Socket, to: Socket, bytes: Buffer): void {
  if (to.write(bytes)) return
  from.pause()
  to.once('drain', () => from.resume())
}
