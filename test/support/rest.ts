/**
 * A small REST client for tests: sends any request, also a GET with a body, and returns status, headers and JSON.
 *
 * Every request has a connection of its own, so that nothing of a client keeps a server or a test alive. The JSON of an
 * answer is `unknown`; `member` walks into it.
 */
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'

export interface RestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body; undefined when it is no JSON. */
  readonly json: unknown
}

export interface Call {
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, as application/json unless `headers` say otherwise. */
  readonly raw?: string | Buffer
  readonly headers?: OutgoingHttpHeaders
}

export interface Rest {
  send(method: string, path: string, call?: Call): Promise<RestResponse>
  get(path: string, headers?: OutgoingHttpHeaders): Promise<RestResponse>
  post(path: string, body?: unknown): Promise<RestResponse>
  put(path: string, body?: unknown): Promise<RestResponse>
  patch(path: string, body?: unknown): Promise<RestResponse>
  delete(path: string): Promise<RestResponse>
}

/** `key` undefined: no key is sent. */
export function rest(url: string, key: string | undefined): Rest {
  const usual = key === undefined ? {} : { 'X-Session-API-Key': key }
  return restBy((method, path, call = {}) => {
    return exchange(url, method, path, { ...call, headers: { ...usual, ...call.headers } })
  })
}

/** The short forms of a way to send. */
export function restBy(send: Rest['send']): Rest {
  const withBody = (method: string) => (path: string, body?: unknown) =>
    send(method, path, body === undefined ? {} : { body })
  return {
    send,
    get: (path, headers = {}) => send('GET', path, { headers }),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: (path) => send('DELETE', path),
  }
}

/** A member deep inside a JSON value; undefined where there is none. */
export function member(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.entries(found).find(([key]) => key === String(name))?.[1]
  }
  return found
}

/** As `member`, for one that has to be a text. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = member(value, ...path)
  if (typeof found === 'string') return found
  throw new Error(`Expected a text at ${path.join('.')} of ${JSON.stringify(value)?.slice(0, 500)}`)
}

/** As `member`, for one that has to be a list. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = member(value, ...path)
  if (Array.isArray(found)) return found
  throw new Error(`Expected a list at ${path.join('.')} of ${JSON.stringify(value)?.slice(0, 500)}`)
}

function exchange(url: string, method: string, path: string, { body, raw, headers }: Call): Promise<RestResponse> {
  const bytes = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const length = bytes === undefined
    ? {}
    : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(bytes) }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, agent: false, headers: { ...length, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) })
      })
    })
    sent.on('error', reject)
    sent.end(bytes)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
