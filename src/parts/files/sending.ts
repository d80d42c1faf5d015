/** Makes responses whose body is a file. The file is read piece by piece, at the pace of the client. */
import type { Call } from '../../api/call.ts'
import { sendPieces, type SendingOptions } from '../../http/pieces.ts'
import type { HttpResponse } from '../../http/reply.ts'
import type { openFile } from '../workspace-files/files.ts'

type OpenFile = Awaited<ReturnType<typeof openFile>>

const pieceBytes = 128 * 1024

/** Returns a response with the content of a file; for HEAD, with headers only. Closes the file after its last use. */
export async function sendFile(call: Call, file: OpenFile, options: SendingOptions): Promise<HttpResponse> {
  const { size } = await file.stat()
  const headers = [...options.headers, 'Content-Length', String(size)]
  if (size === 0 || call.exchange.request.method === 'HEAD') {
    await file.close()
    return { status: 200, type: options.type, headers, stream: (response) => response.end() }
  }
  return sendPieces(piecesOf(file, size), { ...options, headers })
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
