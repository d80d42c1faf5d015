/**
 * Reads the header `Idempotency-Key`, with which a repeated request takes effect once (decisions 37).
 *
 * The server stores the key with an HMAC of the request's kind (`name`), query and body. Quotation marks in the header
 * are part of the key, unlike in the draft "The Idempotency-Key HTTP Header Field".
 */
import type { Clock } from '../base/stamp.ts'
import type { KeyedRequest } from '../conversation/log/requests.ts'
import { headerValues } from '../http/headers.ts'
import { invalid, type Call } from './call.ts'

export interface KeyParts {
  readonly clock: Clock
  /** Returns an HMAC of a text. Without the server's sealing key, the text cannot be guessed from the HMAC. */
  readonly fingerprint: (text: string) => string
}

/** Matches a key: 1 to 128 visible ASCII characters. */
const keyForm = /^[\x21-\x7e]{1,128}$/

/**
 * Returns the idempotency key of a request, the time, and a digest of the kind of request (`name`), the query and the
 * body. Returns undefined for a request without a key.
 * @throws AppError `invalid_input`
 */
export function keyedRequestOf(call: Call, name: string, { clock, fingerprint }: KeyParts): KeyedRequest | undefined {
  const [key, second] = headerValues(call.exchange.request.rawHeaders, 'idempotency-key')
  if (key === undefined) return undefined
  if (second !== undefined || !keyForm.test(key)) {
    const msg = 'Expected one key of 1 to 128 visible ASCII characters'
    const issue = { type: 'string_pattern_mismatch', loc: ['header', 'Idempotency-Key'], msg, input: key.slice(0, 256) }
    throw invalid([issue])
  }
  return { key, digest: fingerprint(JSON.stringify([name, call.query, call.body ?? null])), at: clock() }
}
