/**
 * Sends requests to one server and keeps the responses by name, in the form in which two servers can be compared.
 *
 * A value that has to differ becomes a word: ids `<id>`, times `<time>`, the server's own folder `<folder>`, its
 * address `<url>`. A response keeps its status, the headers that clients read, and its body.
 */
import { request as sendRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../src/base/json.ts'
import type { Subject } from './subject.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON where the content type says so, else the text. */
  readonly body: unknown
}

export interface Asking {
  readonly body?: unknown
  /** A body of this content type, sent as it is. */
  readonly raw?: { readonly type: string; readonly text: string } | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Without the session key. */
  readonly open?: boolean
  /** Lists are compared by their first element, and values by their type: their contents depend on the server. */
  readonly as?: 'shape'
}

export interface Recorded extends Reply {
  readonly as: 'value' | 'shape'
}

export interface Stage {
  readonly subject: Subject
  /** `wanted` is a method and a target. Records the response under `name`; returns it as it came. */
  ask(name: string, wanted: string, asking?: Asking): Promise<Reply>
  /** Sends a request every 50 ms until `isThere` accepts its response, two minutes at most. Records nothing. */
  until(wanted: string, isThere: (reply: Reply) => boolean): Promise<void>
  /** Records a value under `name`, as if it were a body. */
  note(name: string, value: unknown, as?: 'shape'): void
  readonly records: ReadonlyMap<string, Recorded>
}

const patienceMs = 120_000
const slowSeconds = 5
const comparedHeaders = [
  'content-type', 'allow', 'www-authenticate', 'location', 'content-disposition', 'retry-after', 'vary',
  'access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-credentials', 'set-cookie',
]

export function stageOf(subject: Subject): Stage {
  const records = new Map<string, Recorded>()
  const keep = (name: string, record: Recorded): void => {
    if (records.has(name)) throw new Error(`Two requests have the name ${name}`)
    records.set(name, record)
  }
  return {
    subject,
    records,
    note: (name, value, as) => keep(name, {
      status: 200, headers: {}, body: normalised(value, subject), as: as ?? 'value',
    }),
    async until(wanted, isThere) {
      const signal = AbortSignal.timeout(patienceMs)
      while (!isThere(await send(subject, wanted, {}))) await sleep(50, undefined, { signal })
    },
    async ask(name, wanted, asking = {}) {
      const start = performance.now()
      const reply = await send(subject, wanted, asking).catch((error: unknown) => failed(error))
      const seconds = (performance.now() - start) / 1000
      if (seconds > slowSeconds) process.stdout.write(`slow: ${subject.name} ${name}: ${seconds.toFixed(1)} s\n`)
      const headers = Object.fromEntries(comparedHeaders.flatMap((header) => {
        const value = reply.headers[header]
        // Nothing here is stored (Cache-Control: no-store), so Vary matters where an Origin is sent.
        if (header === 'vary' && asking.headers?.['origin'] === undefined) return []
        return value === undefined ? [] : [[header, normalText(value, subject)]]
      }))
      const body = normalised(reply.body, subject)
      keep(name, { status: reply.status, headers, body, as: asking.as ?? 'value' })
      return reply
    },
  }
}

/** With node:http, since fetch refuses the requests of published clients that are a GET with a body. */
async function send(subject: Subject, wanted: string, asking: Asking): Promise<Reply> {
  const [method = '', target = ''] = wanted.split(' ')
  const sent = asking.raw?.text ?? (asking.body === undefined ? undefined : JSON.stringify(asking.body))
  const headers = {
    ...(asking.open ? {} : { 'x-session-api-key': subject.key }),
    ...(sent === undefined ? {} : {
      'content-type': asking.raw?.type ?? 'application/json', 'content-length': Buffer.byteLength(sent),
    }),
    ...asking.headers,
  }
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: false, signal: AbortSignal.timeout(patienceMs) }
    const request = sendRequest(subject.url + target, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject).once('end', () => {
        const found = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
        const text = Buffer.concat(chunks).toString()
        const body = bodyOf(text, response.headers['content-type'] ?? '')
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(found), body })
      })
    })
    request.once('error', reject).end(sent)
  })
}

/** A response that does not come is one of status 0. */
function failed(error: unknown): Reply {
  return { status: 0, headers: {}, body: String(error) }
}

function bodyOf(text: string, type: string): unknown {
  return type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text
}

const idPattern = /\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b/g
const timePattern = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?/g

/** Member names that are ids become words too. */
export function normalised(value: unknown, subject: Subject): unknown {
  if (typeof value === 'string') return normalText(value, subject)
  if (Array.isArray(value)) return value.map((one) => normalised(one, subject))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value)
    .map(([name, inner]) => [normalText(name, subject), normalised(inner, subject)]))
}

function normalText(text: string, subject: Subject): string {
  return text.replaceAll(subject.folder, '<folder>').replaceAll(subject.url, '<url>')
    .replace(idPattern, '<id>').replace(timePattern, '<time>')
}
