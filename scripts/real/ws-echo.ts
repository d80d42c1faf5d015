/**
 * `src/ws` alone as a server that echoes: texts compressed where that was negotiated, `close:<code>` has it close.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Compression } from '../../src/ws/compression.ts'
import { encodeCompressedText } from '../../src/ws/deflate.ts'
import { encodeFrame, encodeText, opcodes } from '../../src/ws/frame.ts'
import { defaultLimits } from '../../src/ws/limits.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'

export interface EchoServer {
  readonly port: number
  close(): Promise<void>
}

export async function startEchoServer(): Promise<EchoServer> {
  const compression = new Compression()
  const limits = { ...defaultLimits, maxBufferedBytes: 64 * 1024 * 1024 }
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    const upgrade = acceptUpgrade(request, socket, head, { compression, limits })
    if (!upgrade.ok) return
    const { connection } = upgrade
    connection.owner = {
      onMessage(message) {
        if (message.kind === 'binary') return void connection.send(encodeFrame(opcodes.binary, message.data))
        const code = /^close:(\d+)$/.exec(message.text)?.[1]
        if (code !== undefined) return connection.close(Number(code), 'as you wish')
        const encode = connection.deflate ? encodeCompressedText : encodeText
        connection.send(encode(Buffer.from(message.text)))
      },
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('Expected a port')
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
  }
  return { port: address.port, close }
}
