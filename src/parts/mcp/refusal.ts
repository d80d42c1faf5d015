/**
 * The error for an unsuccessful HTTP response of an MCP server. A JSON-RPC error in the body gives the message
 * (MCP 2025-06-18, transports, "Sending Messages to the Server", 4).
 *
 * The message is untrusted text, and may repeat secrets of the request.
 */
import { AppError } from '../../base/errors.ts'
import { parseJson } from '../../base/json.ts'
import type { OutboundStream } from '../net/outbound.ts'
import { memberAt, textOf } from '../../base/fields.ts'

const readLimitBytes = 64 * 1024

export function isSuccess({ status }: OutboundStream): boolean {
  return status >= 200 && status < 300
}

/** Returns the error for an unsuccessful response. Leaves out a body above `readLimitBytes`. Closes the stream. */
export async function refusalOf(stream: OutboundStream): Promise<AppError> {
  const words = await wordsOf(stream)
  const hint = stream.status === 401 || stream.status === 403 ? ' (its credentials are missing or not accepted)' : ''
  const said = words === undefined ? '' : `: ${words}`
  return new AppError('upstream_failed', `The server answered with status ${stream.status}${hint}${said}`)
}

async function wordsOf(stream: OutboundStream): Promise<string | undefined> {
  try {
    const parts: Buffer[] = []
    let sizeBytes = 0
    for await (const chunk of stream.chunks) {
      parts.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes > readLimitBytes) return undefined
    }
    return textOf(memberAt(parseJson(Buffer.concat(parts).toString()), 'error', 'message'))
  } catch {
    return undefined // An unreadable body has no message.
  } finally {
    stream.close()
  }
}
