/**
 * Sends one webhook's requests: headers, signature, attempts and the waits between them.
 *
 * A request is delivered when the receiver answers with a status of 200 to 299. Reasons of failures name only the
 * origin of the webhook's address, because its path or query may contain a key.
 */
import { AppError } from '../../base/errors.ts'
import type { Clock } from '../../base/stamp.ts'
import type { OutboundRequest, OutboundStream } from '../net/outbound.ts'
import { waitBefore } from './backoff.ts'
import type { WebhookSettings } from './settings.ts'
import { sign } from './signature.ts'

/** The content of a request. Each attempt has the same id, so that a receiver recognizes a repetition. */
export interface Message {
  readonly id: string
  /** The path below the base URL. */
  readonly path: string
  readonly body: readonly Buffer[]
}

export interface Failure {
  readonly kind: 'failed'
  readonly reason: string
  /** The status of the last response; undefined when the last attempt got no response. */
  readonly status: number | undefined
  readonly attempts: number
}

/** The result of `deliver`. `stopped` means that the server closes before the receiver has accepted the message. */
export type Outcome = { readonly kind: 'delivered' } | { readonly kind: 'stopped' } | Failure

export interface DeliveryOptions {
  readonly settings: WebhookSettings
  /** The first session key of the configuration; undefined if there is none. */
  readonly sessionKey: string | undefined
  readonly clock: Clock
  readonly random: () => number
  readonly open: (request: OutboundRequest) => Promise<OutboundStream>
  /** Resolves after `ms` milliseconds, or rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

const timeoutMs = 30_000

export class Delivery {
  readonly #options: DeliveryOptions

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /**
   * Sends a message until it is delivered, or all attempts have failed. Returns `stopped` when the abort of
   * `patience` or `signal` ends the attempts early. Never rejects.
   * @param retries the number of further attempts after a failed first attempt
   * @param patience when aborted, ends the wait between attempts
   * @param signal when aborted, ends a request that is under way
   */
  async deliver(message: Message, retries: number, patience: AbortSignal, signal: AbortSignal): Promise<Outcome> {
    const { settings: { retryDelayMs }, clock, random, sleep } = this.#options
    for (let failures = 1; ; failures++) {
      const result = await this.#attempt(message, signal)
      if (result.kind === 'delivered') return result
      if (signal.aborted) return { kind: 'stopped' }
      const { reason, status, retryAfter } = result
      if (failures > retries) return { kind: 'failed', reason, status, attempts: failures }
      const ms = waitBefore({ failures, retryDelayMs, retryAfter, now: clock(), random: random() })
      try {
        await sleep(ms, patience)
      } catch {
        return { kind: 'stopped' } // `sleep` rejects only when `patience` is aborted.
      }
    }
  }

  async #attempt(message: Message, signal: AbortSignal): Promise<Attempted> {
    const { settings: { baseUrl }, open } = this.#options
    try {
      const headers = await this.#headers(message)
      const url = addressOf(baseUrl, message.path)
      const answer = await open({ method: 'POST', url, headers, body: message.body, limitBytes: 0, timeoutMs, signal })
      const { status } = answer
      answer.close()
      if (status >= 200 && status < 300) return { kind: 'delivered' }
      const reason = `${baseUrl.origin} answered with status ${status}`
      return { kind: 'failed', reason, status, retryAfter: answer.headers['retry-after'] }
    } catch (thrown) {
      // Messages of errors other than AppErrors may contain the path or query of the address.
      const reason = thrown instanceof AppError ? thrown.message : `Could not send a request to ${baseUrl.origin}`
      return { kind: 'failed', reason, status: undefined, retryAfter: undefined }
    }
  }

  async #headers({ id, body }: Message): Promise<Record<string, string>> {
    const { settings: { headers, secret, sendsSessionKey }, sessionKey, clock } = this.#options
    const timestamp = Math.floor(clock() / 1000)
    return {
      ...(sendsSessionKey && sessionKey !== undefined ? { 'X-Session-API-Key': sessionKey } : {}),
      ...headers,
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      ...(secret === undefined ? {} : { 'webhook-signature': await sign(secret, { id, timestamp, body }) }),
    }
  }
}

type Attempted = { readonly kind: 'delivered' } | FailedAttempt

interface FailedAttempt {
  readonly kind: 'failed'
  readonly reason: string
  readonly status: number | undefined
  readonly retryAfter: string | undefined
}

/** Appends a path to the path of the base URL. The query of the base URL stays. */
function addressOf(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`
  return url
}
