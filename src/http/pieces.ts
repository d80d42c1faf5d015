/** Makes responses whose body is produced piece by piece. */
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { HttpResponse } from './reply.ts'

export interface SendingOptions {
  readonly type: string
  readonly headers: readonly string[]
  /** The time without data after which the connection is cut. */
  readonly stallTimeoutMs: number
}

/**
 * Returns the response that sends pieces as they are made. A failure or a stall cuts the connection, so that the client
 * sees that the body is incomplete.
 */
export function sendPieces(pieces: AsyncIterable<Buffer>, options: SendingOptions): HttpResponse {
  const { type, headers, stallTimeoutMs } = options
  const stream = (response: ServerResponse): void => {
    response.setTimeout(stallTimeoutMs, () => response.destroy())
    pipeline(pieces, response).catch(() => response.destroy()) // The client sees a broken connection.
  }
  return { status: 200, type, headers, stream }
}

/** Returns name and value of the header that makes a browser save the body under this name (RFC 6266). */
export function attachment(name: string): readonly string[] {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(Buffer.from(name).toString()).replaceAll(/['()*]/g, (one) => {
    return `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  })
  return ['Content-Disposition', `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`]
}
