/**
 * Reads the time that a provider asks to wait before the next request.
 *
 * Sources: the headers `retry-after-ms` (OpenAI) and `Retry-After` (RFC 9110, section 10.2.3), and `retryDelay` in the
 * body (google.rpc.RetryInfo, Gemini).
 */
import { textOf, type Fields } from '../../../base/fields.ts'

/** Headers by lower-case name, as Node gives them. */
export type RetryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Returns the time to wait in milliseconds; undefined when neither the headers nor `details` have a readable time. */
export function retryAfterMsOf(
  headers: RetryHeaders,
  details: readonly Fields[],
  now: () => number,
): number | undefined {
  return amountIn(headers['retry-after-ms'], 1) ?? amountIn(headers['retry-after'], 1000)
    ?? untilDate(headers['retry-after'], now) ?? delayIn(details)
}

function amountIn(header: RetryHeaders[string], unitMs: number): number | undefined {
  return typeof header === 'string' && /^\d{1,9}(?:\.\d{1,9})?$/.test(header)
    ? Math.ceil(Number(header) * unitMs)
    : undefined
}

function untilDate(header: RetryHeaders[string], now: () => number): number | undefined {
  const time = typeof header === 'string' ? Date.parse(header) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - now())
}

/** Returns the first readable `retryDelay` of the body's details, such as `3.5s`, in milliseconds. */
function delayIn(details: readonly Fields[]): number | undefined {
  const delays = details.map((detail) => /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(textOf(detail['retryDelay']) ?? '')?.[1])
  return amountIn(delays.find((delay) => delay !== undefined), 1000)
}
