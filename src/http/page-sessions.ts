/**
 * Checks the session of the console's page: a cookie and a proof, which together count in place of a session key.
 *
 * A browser sends a cookie to every port of a host, so the cookie alone is not enough. The proof is in the header
 * `X-Console-Proof`, or in the first frame of a socket. Rules: RFC 6265, sections 4.2 and 8.5; RFC 6454, section 7; W3C
 * Fetch Metadata Request Headers, section 2.
 */
import { headerValues } from './headers.ts'
import { isSameOrigin, parseAuthority, type Authority } from './origin.ts'
import type { Principal } from './principal.ts'

export interface PageSession {
  readonly id: string
  /** The holder of the named key with which the session was begun; undefined without a named key. */
  readonly principal: Principal | undefined
  /** True for the proof of this session. */
  hasProof(candidate: string): boolean
  /** Calls `end` when the session ends. The returned function cancels this call. */
  hold(end: () => void): () => void
}

export interface PageSessionSource {
  /** Finds the session with this token that began at this Host, and prolongs it; undefined when there is none. */
  find(token: string, host: string): PageSession | undefined
}

/** A request's session. `absent`: it has no proof. `wrong`: two proofs, or not the proof of the cookie's session. */
export type PageCredential =
  | { readonly kind: 'absent' | 'wrong' }
  | { readonly kind: 'given'; readonly session: PageSession }

export class PageSessions {
  source: PageSessionSource | undefined

  /** Finds the session of a request by its cookie, and checks its proof. */
  ofRequest(rawHeaders: readonly string[]): PageCredential {
    const [proof, second] = headerValues(rawHeaders, 'x-console-proof')
    if (proof === undefined) return { kind: 'absent' }
    const session = second === undefined ? this.#find(rawHeaders) : undefined
    return session?.hasProof(proof) === true ? { kind: 'given', session } : { kind: 'wrong' }
  }

  /** Finds the session of an upgrade request with one Origin, by its cookie. The first frame must bring the proof. */
  ofUpgrade(rawHeaders: readonly string[]): PageSession | undefined {
    return headerValues(rawHeaders, 'origin').length === 1 ? this.#find(rawHeaders) : undefined
  }

  #find(rawHeaders: readonly string[]): PageSession | undefined {
    const host = hostOf(rawHeaders)
    if (this.source === undefined || host === undefined || !isOfSameOrigin(rawHeaders, host)) return undefined
    const token = tokenOf(rawHeaders, pageCookieName(host))
    return token === undefined ? undefined : this.source.find(token, authorityText(host))
  }
}

/** Returns the Host of a request; undefined when it is missing, repeated or malformed. */
export function hostOf(rawHeaders: readonly string[]): Authority | undefined {
  const [host, second] = headerValues(rawHeaders, 'host')
  return host === undefined || second !== undefined ? undefined : parseAuthority(host)
}

/** Returns `name` or `name:port`. */
export function authorityText({ name, port }: Authority): string {
  return port === undefined ? name : `${name}:${port}`
}

/** Returns the name of the cookie. The name contains the port, because all ports of a host share cookies. */
export function pageCookieName({ port }: Authority): string {
  return `agent_server_console_${port ?? 'default'}`
}

/** True when each `Origin` has the name and port of the Host, and each `Sec-Fetch-Site` is `same-origin`. */
function isOfSameOrigin(rawHeaders: readonly string[], host: Authority): boolean {
  const isOwn = headerValues(rawHeaders, 'origin').every((origin) => isSameOrigin(origin, host))
  return isOwn && headerValues(rawHeaders, 'sec-fetch-site').every((site) => site.toLowerCase() === 'same-origin')
}

/** Returns the value of the only cookie with this name; undefined for no or several such cookies. */
function tokenOf(rawHeaders: readonly string[], name: string): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((value) => value.split(';')).map((pair) => pair.trim())
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`))
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined
}
