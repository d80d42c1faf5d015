/**
 * The header `Idempotency-Key`: a request that may be sent again until its answer has come, and has its effect once
 * (decisions 37; the header is that of the draft "The Idempotency-Key HTTP Header Field", without its quotation marks).
 *
 * Only what changes something and cannot be told from an earlier try takes it: a new conversation, a message, a run, an
 * answer. Two requests with one key are the same when all that they say is the same; what is kept of that is a keyed
 * digest, since a request may hold secrets. What is remembered, and for how long, is `conversation/requests`.
 */
import type { Clock } from '../base/stamp.ts'
import type { KeyedRequest } from '../conversation/requests.ts'
import { headerValues } from '../http/headers.ts'
import { invalid, type Call } from './call.ts'

export interface KeyParts {
  readonly clock: Clock
  /** A digest that tells nothing to who has not the server's key. */
  readonly fingerprint: (text: string) => string
}

/** Visible characters of ASCII. */
const keyForm = /^[\x21-\x7e]{1,128}$/

/**
 * The request with its key; undefined when it carries none. `name` tells apart what a key may be used for.
 * @throws AppError `invalid_input`
 */
export function keyedRequestOf(call: Call, name: string, { clock, fingerprint }: KeyParts): KeyedRequest | undefined {
  const [key, second] = headerValues(call.exchange.request.rawHeaders, 'idempotency-key')
  if (key === undefined) return undefined
  if (second !== undefined || !keyForm.test(key)) {
    const msg = 'Expected one key of 1 to 128 visible ASCII characters'
    throw invalid([{ type: 'string_pattern_mismatch', loc: ['header', 'Idempotency-Key'], msg, input: key.slice(0, 256) }])
  }
  return { key, digest: fingerprint(JSON.stringify([name, call.query, call.body ?? null])), at: clock() }
}
