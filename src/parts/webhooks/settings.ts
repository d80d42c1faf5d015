/**
 * The settings of a webhook: read from an address or from a JSON object, and checked (contract/others.md, section 13).
 *
 * Every start of the server loads this file, so it imports nothing heavy.
 */
import { isObject, parseJson, type JsonObject } from '../../base/json.ts'

/** A webhook in the configuration: an address, the text of a JSON object, or an object. */
export type WebhookItem = string | JsonObject

/** The numbers in the configuration of a webhook, with their defaults. Times are in seconds. */
const defaults: Readonly<Record<string, number>> = {
  event_buffer_size: 5,
  flush_delay: 30,
  num_retries: 3,
  retry_delay: 5,
  max_queue_size: 1000,
  max_batch_bytes: 5 * 1024 * 1024,
  max_queue_bytes: 50 * 1024 * 1024,
}
const ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  event_buffer_size: [1, 10_000],
  flush_delay: [0, 86_400],
  num_retries: [0, 100],
  retry_delay: [0, 3600],
  max_queue_size: [1, 1_000_000],
  max_batch_bytes: [1024, 64 * 1024 * 1024],
  max_queue_bytes: [1024, 1024 * 1024 * 1024],
}
/** The names of the numbers that may be fractions. All others are integers. */
const fractions: readonly string[] = ['flush_delay', 'retry_delay']
const others: readonly string[] = ['base_url', 'headers', 'secret', 'send_session_key']

export interface WebhookSettings {
  readonly baseUrl: URL
  /** The configured headers, which every request carries. */
  readonly headers: Readonly<Record<string, string>>
  /** The key of the signatures; undefined when requests are not signed. */
  readonly secret: string | undefined
  /** True when requests carry the first session key of the configuration, if any, as header `X-Session-API-Key`. */
  readonly sendsSessionKey: boolean
  /** As soon as a conversation has this number of waiting events, they are sent, even before `flushDelayMs` is over. */
  readonly bufferSize: number
  /** The longest time that an event waits for further events before it is sent. */
  readonly flushDelayMs: number
  /** The most attempts to send a request again after its first attempt has failed. */
  readonly retries: number
  /** The delay (before jitter) of the second attempt to send a request. It doubles with each further attempt. */
  readonly retryDelayMs: number
  /** The most events of a conversation that wait for delivery. Older waiting events become a dead letter. */
  readonly queueLimit: number
  /** The most bytes of events in a request. A longer event is sent alone. */
  readonly batchLimitBytes: number
  /** The most bytes of a conversation's events that wait for delivery. Older waiting events become a dead letter. */
  readonly queueLimitBytes: number
}

/** Reads an argument of the command line: a JSON object, or else the text itself. */
export function readWord(word: string): unknown {
  return word.trimStart().startsWith('{') ? (parsed(word) ?? word) : word
}

/** True for a list of valid webhooks, no two with the same address. */
export function areWebhooks(value: unknown): value is readonly WebhookItem[] {
  if (!Array.isArray(value)) return false
  const urls = value.map((item: unknown) => readWebhook(item)?.baseUrl.href)
  return !urls.includes(undefined) && new Set(urls).size === urls.length
}

/** Returns the settings; undefined for a value that is not a valid webhook. */
export function readWebhook(item: unknown): WebhookSettings | undefined {
  const given = typeof item === 'string' ? objectFrom(item) : item
  if (!isObject(given)) return undefined
  if (Object.keys(given).some((name) => !Object.hasOwn(defaults, name) && !others.includes(name))) return undefined
  const { base_url, headers = {}, secret, send_session_key = secret === undefined } = given
  const baseUrl = readUrl(base_url)
  const numbers = readNumbers(given)
  if (baseUrl === undefined || numbers === undefined || !areHeaders(headers)) return undefined
  if (typeof send_session_key !== 'boolean' || (secret !== undefined && !isSecret(secret))) return undefined
  const amount = (name: string): number => numbers[name] ?? 0
  return {
    baseUrl,
    headers,
    secret,
    sendsSessionKey: send_session_key,
    bufferSize: amount('event_buffer_size'),
    flushDelayMs: amount('flush_delay') * 1000,
    retries: amount('num_retries'),
    retryDelayMs: amount('retry_delay') * 1000,
    queueLimit: amount('max_queue_size'),
    batchLimitBytes: amount('max_batch_bytes'),
    queueLimitBytes: amount('max_queue_bytes'),
  }
}

function objectFrom(word: string): unknown {
  const value = readWord(word)
  return typeof value === 'string' ? { base_url: value } : value
}

function parsed(word: string): unknown {
  try {
    return parseJson(word)
  } catch {
    return undefined // `readWord` then returns the text, which begins with `{`. `readUrl` refuses it.
  }
}

function readUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > 2048 || !URL.canParse(value)) return undefined
  const url = new URL(value)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && url.username === '' && url.password === '' && url.hash === '' ? url : undefined
}

function readNumbers(given: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> | undefined {
  const numbers = Object.entries(defaults).map(([name, initial]): [string, unknown] => [name, given[name] ?? initial])
  return areInRange(numbers) ? Object.fromEntries(numbers) : undefined
}

function areInRange(numbers: [string, unknown][]): numbers is [string, number][] {
  return numbers.every(([name, value]) => {
    const [least, most] = ranges[name] ?? [0, 0]
    if (typeof value !== 'number' || !(value >= least && value <= most)) return false
    return Number.isInteger(value) || fractions.includes(name)
  })
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** Headers that the settings of a webhook must not have, because the server or Node sets them. */
const ownHeaders = /^(?:content-type|content-length|host|connection|transfer-encoding|webhook-.*)$/i

function areHeaders(value: unknown): value is Readonly<Record<string, string>> {
  if (!isObject(value)) return false
  return Object.entries(value).every(([name, text]) => {
    if (!headerName.test(name) || ownHeaders.test(name)) return false
    return typeof text === 'string' && /^[\t\x20-\x7e]{0,4096}$/.test(text)
  })
}

/** True for a text of 16 to 512 characters. After the prefix `whsec_` it must be base64 of 22 characters or more. */
function isSecret(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 512) return false
  return value.startsWith('whsec_') ? /^whsec_[A-Za-z0-9+/]{22,}={0,2}$/.test(value) : value.length >= 16
}
