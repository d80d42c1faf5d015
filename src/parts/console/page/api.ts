/**
 * The server's interface as the page uses it: REST, sockets and the sign-in.
 *
 * At the sign-in the server gives the page a secret, the proof, which the page keeps in `localStorage`. Later requests
 * and sockets send the proof. Addresses are relative to the page, so a proxy may put the server below a path.
 */
import { isObject, listAt, memberAt, textAt } from './values.ts'

export interface Answer {
  /** The status of the response; 0 when the server did not answer. */
  readonly status: number
  /** The parsed body; undefined when it is not JSON; an object with `detail` when the server did not answer. */
  readonly json: unknown
}

export interface Api {
  get(path: string, signal?: AbortSignal): Promise<Answer>
  /** Sends a GET for settings. In the response, each secret is encrypted with the server's key. */
  getSealed(path: string): Promise<Answer>
  post(path: string, body?: unknown): Promise<Answer>
  patch(path: string, body?: unknown): Promise<Answer>
  put(path: string, body?: unknown): Promise<Answer>
  delete(path: string, body?: unknown): Promise<Answer>
  /**
   * Sends a GET. The caller reads the body of the response. Rejects when the server does not answer, or `signal`
   * aborts.
   */
  open(path: string, signal?: AbortSignal): Promise<Response>
  /** Returns the content at a path; undefined when the request fails. */
  blob(path: string): Promise<Blob | undefined>
  /** Opens a WebSocket. A page with a proof (the secret of its session) sends the proof in the first frame. */
  openSocket(path: string): WebSocket
  /** Called at a sign-out, and after status 401 for any request except those of `open`, `blob` and with `isSignIn`. */
  onSignedOut: () => void
}

const proofName = 'agent-server-proof'

export class ServerApi implements Api {
  onSignedOut: () => void = () => undefined
  /** The address below which all paths of the server are: the folder above the page. */
  readonly #base = new URL('../', location.href.replace(/[?#][^]*/, ''))

  get(path: string, signal?: AbortSignal): Promise<Answer> {
    return this.#send({ method: 'GET', path, signal })
  }

  getSealed(path: string): Promise<Answer> {
    return this.#send({ method: 'GET', path, headers: { ...proofHeaders(), 'X-Expose-Secrets': 'encrypted' } })
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.#send({ method: 'POST', path, body })
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.#send({ method: 'PATCH', path, body })
  }

  put(path: string, body?: unknown): Promise<Answer> {
    return this.#send({ method: 'PUT', path, body })
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.#send({ method: 'DELETE', path, body })
  }

  open(path: string, signal?: AbortSignal): Promise<Response> {
    return fetch(this.#address(path), { headers: proofHeaders(), signal: signal ?? null, cache: 'no-store' })
  }

  async blob(path: string): Promise<Blob | undefined> {
    const response = await this.open(path).catch(() => undefined) // A failed request has no content.
    return response?.ok === true ? response.blob() : undefined
  }

  openSocket(path: string): WebSocket {
    const address = new URL(this.#address(path))
    address.protocol = address.protocol.replace('http', 'ws')
    const socket = new WebSocket(address)
    const proof = localStorage.getItem(proofName)
    if (proof !== null) {
      socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'auth', session_api_key: proof })))
    }
    return socket
  }

  /** Signs in with a one-time code. Returns the reason of a failure; undefined after a success. */
  async signInWithCode(code: string): Promise<string | undefined> {
    return keepProof(await this.#send({ method: 'POST', path: '/api/console/sign-in', body: { code }, isSignIn: true }))
  }

  /** Signs in with a key. Returns the reason of a failure; undefined after a success. */
  async signInWithKey(key: string): Promise<string | undefined> {
    const headers = { 'X-Session-API-Key': key }
    return keepProof(await this.#send({ method: 'POST', path: '/api/console/sessions', headers, isSignIn: true }))
  }

  /** Tells whether the server accepts the requests of this page. */
  async isSignedIn(): Promise<boolean> {
    const { status } = await this.#send({ method: 'GET', path: '/api/console/sessions', isSignIn: true })
    return status === 200 || status === 403 // The session's key may lack the right to list sessions.
  }

  /** Deletes the proof, calls `onSignedOut`, and has the server end the session. */
  async signOut(): Promise<void> {
    const headers = proofHeaders()
    localStorage.removeItem(proofName)
    this.onSignedOut()
    await this.#send({ method: 'POST', path: '/api/console/sign-out', headers, isSignIn: true })
  }

  #address(path: string): string {
    return new URL(path.replace(/^\//, ''), this.#base).href
  }

  async #send(sending: Sending): Promise<Answer> {
    const { method, path, body, signal, headers = proofHeaders(), isSignIn = false } = sending
    const typed = body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    // The browser finishes the request of a deletion even when the page closes.
    const keepalive = method === 'DELETE'
    const init = { method, headers: typed, cache: 'no-store', signal: signal ?? null, keepalive, ...content } as const
    const response = await fetch(this.#address(path), init).catch(() => undefined) // The next line reports the failure.
    if (response === undefined) return { status: 0, json: { detail: 'The server does not answer' } }
    if (response.status === 401 && !isSignIn) this.onSignedOut()
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json') === true
    const json: unknown = isJson ? await response.json().catch(() => undefined) : undefined // Broken JSON is ignored.
    return { status: response.status, json }
  }
}

interface Sending {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** True when `onSignedOut` must not be called after status 401: the request is a part of the sign-in or sign-out. */
  readonly isSignIn?: boolean
}

export interface Issue {
  /** The path to the refused member of the request, from the outermost name on. */
  readonly names: readonly string[]
  readonly text: string
}

/**
 * Returns the problems in a response with status 422. If `detail` is a single text, its words before the first colon
 * become `names`.
 */
export function issuesOf({ status, json }: Answer): readonly Issue[] {
  const detail = memberAt(json, 'detail')
  if (status !== 422) return []
  if (typeof detail === 'string') return [{ names: detail.split(':')[0]?.split(' ') ?? [], text: detail }]
  return listAt(json, 'detail').map((issue) => {
    return { names: listAt(issue, 'loc').map(String), text: textAt(issue, 'msg').replace(/^Value error, /, '') }
  })
}

/** Returns why a request failed, as a text for people. */
export function problemOf({ status, json }: Answer): string {
  const detail = memberAt(json, 'detail')
  if (typeof detail === 'string') return detail
  const issues = Array.isArray(detail) ? detail.filter(isObject) : []
  const told = issues.map((issue) => `${placeOf(issue['loc'])}${textAt(issue, 'msg')}`)
  return told.length > 0 ? told.join('; ') : `The server answered with status ${status}`
}

function placeOf(loc: unknown): string {
  return Array.isArray(loc) && loc.length > 1 ? `${loc.slice(1).join('.')}: ` : ''
}

function proofHeaders(): Readonly<Record<string, string>> {
  const proof = localStorage.getItem(proofName)
  return proof === null ? {} : { 'X-Console-Proof': proof }
}

function keepProof(answer: Answer): string | undefined {
  if (answer.status !== 200) return problemOf(answer)
  const proof = textAt(answer.json, 'proof')
  if (proof !== '') localStorage.setItem(proofName, proof)
  return undefined
}
