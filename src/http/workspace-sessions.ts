/**
 * Sessions in which a browser reads files of workspaces with a cookie, where it cannot send a header (decisions 33).
 *
 * A session has a random token, which is no session key. It gives access only to routes with the right `workspace`. It
 * ends after 12 hours, by `end`, with the server, or when `tokenLimit` newer sessions have begun. Scripts cannot read
 * the cookie.
 */
import { randomBytes } from 'node:crypto'
import { headerValues } from './headers.ts'

const cookieName = 'oh_workspace_session_key'
const lifeMs = 12 * 60 * 60 * 1000
/** The most tokens at once; a further token replaces the oldest. */
const tokenLimit = 1000

export class WorkspaceSessions {
  readonly #clock: () => number
  /** The end of each token, in ms, by token; the oldest token is first. */
  readonly #ends = new Map<string, number>()

  /** @param clock returns the time in ms */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Begins a session and returns the value of `Set-Cookie`. `isSafe` is true over a secure connection. */
  begin(isSafe: boolean): string {
    const token = randomBytes(32).toString('base64url')
    const [oldest] = this.#ends.keys()
    if (this.#ends.size >= tokenLimit && oldest !== undefined) this.#ends.delete(oldest)
    this.#ends.set(token, this.#clock() + lifeMs)
    return cookie(token, lifeMs / 1000, isSafe)
  }

  /** Ends the session of a request and returns the value of `Set-Cookie` that deletes its cookie. */
  end(rawHeaders: readonly string[], isSafe: boolean): string {
    this.#ends.delete(tokenOf(rawHeaders) ?? '')
    return cookie('', 0, isSafe)
  }

  /** True for a request with a token that has not ended. */
  has(rawHeaders: readonly string[]): boolean {
    const end = this.#ends.get(tokenOf(rawHeaders) ?? '')
    return end !== undefined && this.#clock() < end
  }
}

function cookie(value: string, seconds: number, isSafe: boolean): string {
  const reach = isSafe ? 'SameSite=None; Secure; Partitioned' : 'SameSite=Lax'
  return `${cookieName}=${value}; Path=/api/conversations; HttpOnly; Max-Age=${seconds}; ${reach}`
}

/** Returns the token in the only cookie of this name (RFC 6265, section 4.2.1); undefined for no or several cookies. */
function tokenOf(rawHeaders: readonly string[]): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((value) => value.split(';'))
  const values = pairs.map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${cookieName}=`))
  return values.length === 1 ? values[0]?.slice(cookieName.length + 1) : undefined
}
