/**
 * The signature of a request: HMAC-SHA256 over its id, its time and its body, in the form of Standard Webhooks
 * (standardwebhooks.com).
 *
 *     webhook-id: <id>   webhook-timestamp: <Unix seconds>   webhook-signature: v1,<base64 of the HMAC>
 *     signed text: <id> "." <timestamp> "." <body>
 */
import { createHash, createHmac } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

const prefix = 'whsec_'
/** The number of hashed bytes after which the event loop serves other work. */
const turnBytes = 1024 * 1024

export interface SignedRequest {
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly body: readonly Buffer[]
}

/** Returns the value of `webhook-signature`. A secret with the prefix `whsec_` is base64, any other is text. */
export async function sign(secret: string, { id, timestamp, body }: SignedRequest): Promise<string> {
  const key = secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret)
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`)
  let hashed = 0
  for (const piece of body) {
    for (let at = 0; at < piece.length; at += turnBytes) {
      const part = piece.subarray(at, at + turnBytes)
      hmac.update(part)
      hashed += part.length
      if (hashed < turnBytes) continue
      await nextTurn()
      hashed = 0
    }
  }
  return `v1,${hmac.digest('base64')}`
}

/** Returns the first 16 hex digits of the SHA-256 of a text. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
