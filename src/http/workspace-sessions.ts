/**
 * Sessions in which a browser reads files of workspaces with a cookie (decisions 33).
 *
 * A session has a random token and the right `workspace`. It ends after 12 hours, by a call of `end`, or with its key.
 * Above `tokenLimit` sessions the oldest ends.
 */
import { randomBytes } from 'node:crypto'
import { headerValues } from './headers.ts'
import type { Principal } from './principal.ts'

const cookieName = 'oh_workspace_session_key'
const lifeMs = 12 * 60 * 60 * 1000
/** The most sessions at once. A further session ends the oldest. */
const tokenLimit = 1000

interface Session {
  /** The time at which the session ends at the latest, in milliseconds since the epoch. */
  readonly end: number
  readonly principal: Principal
  /** Cancels the call that ends this session when its key ends (`Principal.hold`). */
  readonly release: () => void
}

const rights: ReadonlySet<string> = new Set(['workspace'])

export class WorkspaceSessions {
  readonly #clock: () => number
  readonly #basePath: string
  /** The sessions by token; the oldest is first. */
  readonly #sessions = new Map<string, Session>()

  constructor(clock: () => number, basePath: string) {
    this.#clock = clock
    this.#basePath = basePath
  }

  /**
   * Begins a session, which also ends when the key of `beginner` ends. Returns the value of `Set-Cookie`. `isSafe` is
   * true when the browser uses https.
   */
  begin(isSafe: boolean, beginner: Principal): string {
    const token = randomBytes(32).toString('base64url')
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size >= tokenLimit && oldest !== undefined) this.#end(oldest)
    const release = beginner.hold(() => this.#sessions.delete(token))
    this.#sessions.set(token, { end: this.#clock() + lifeMs, principal: { ...beginner, rights }, release })
    return this.#cookie(token, lifeMs / 1000, isSafe)
  }

  /** Ends the session of a request. Returns the `Set-Cookie` value that deletes its cookie. */
  end(rawHeaders: readonly string[], isSafe: boolean): string {
    this.#end(tokenOf(rawHeaders) ?? '')
    return this.#cookie('', 0, isSafe)
  }

  /** Returns the principal of a request's valid session, with the right `workspace` only; otherwise undefined. */
  find(rawHeaders: readonly string[]): Principal | undefined {
    const session = this.#sessions.get(tokenOf(rawHeaders) ?? '')
    return session !== undefined && this.#clock() < session.end ? session.principal : undefined
  }

  #end(token: string): void {
    this.#sessions.get(token)?.release()
    this.#sessions.delete(token)
  }

  #cookie(value: string, seconds: number, isSafe: boolean): string {
    const reach = isSafe ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax'
    return `${cookieName}=${value}; Path=${this.#basePath}/api/conversations; HttpOnly; Max-Age=${seconds}; ${reach}`
  }
}

/** Returns the value of the cookie `cookieName` (RFC 6265, section 4.2.1); undefined for no or several such cookies. */
function tokenOf(rawHeaders: readonly string[]): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((value) => value.split(';'))
  const values = pairs.map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${cookieName}=`))
  return values.length === 1 ? values[0]?.slice(cookieName.length + 1) : undefined
}
