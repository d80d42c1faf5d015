/** Makes responses whose body is a file, or is made while it is sent, piece by piece, at the pace of the client. */
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Call } from '../../api/call.ts'
import type { HttpResponse } from '../../http/reply.ts'
import type { openFile } from '../../workspace/files.ts'

type OpenFile = Awaited<ReturnType<typeof openFile>>

export interface SendingOptions {
  readonly type: string
  readonly headers: readonly string[]
  /** A client that takes nothing for this time is disconnected. */
  readonly stallTimeoutMs: number
}

const pieceBytes = 128 * 1024

/** Returns the response that sends a file; the file is closed afterwards. A HEAD request gets no body. */
export async function sendFile(call: Call, file: OpenFile, options: SendingOptions): Promise<HttpResponse> {
  const { size } = await file.stat()
  const headers = [...options.headers, 'Content-Length', String(size)]
  if (size === 0 || call.exchange.request.method === 'HEAD') {
    await file.close()
    return { status: 200, type: options.type, headers, stream: (response) => response.end() }
  }
  return sendPieces(piecesOf(file, size), { ...options, headers })
}

/**
 * Returns the response that sends pieces as they are made. A failure, or a client that takes nothing for
 * `stallTimeoutMs`, cuts the connection, so that the client sees that the body is incomplete.
 */
export function sendPieces(pieces: AsyncIterable<Buffer>, options: SendingOptions): HttpResponse {
  const { type, headers, stallTimeoutMs } = options
  const stream = (response: ServerResponse): void => {
    response.setTimeout(stallTimeoutMs, () => response.destroy())
    pipeline(pieces, response).catch(() => response.destroy())
  }
  return { status: 200, type, headers, stream }
}

/** Returns the header that has a browser save the body under this name (RFC 6266). */
export function attachment(name: string): readonly string[] {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(Buffer.from(name).toString()).replaceAll(/['()*]/g, (one) => {
    return `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  })
  return ['Content-Disposition', `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`]
}

async function* piecesOf(file: OpenFile, size: number): AsyncGenerator<Buffer, void> {
  try {
    for (let position = 0; position < size;) {
      const length = Math.min(pieceBytes, size - position)
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(length), position })
      if (bytesRead === 0) throw new RangeError('The file became shorter while it was sent')
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
