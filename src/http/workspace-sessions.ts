/**
 * Tokens with which a browser reads files of workspaces, where it can send a cookie and no header (decisions 33).
 *
 * A token is random, is no session key, opens nothing but routes with the right `workspace`, and ends after 12 hours or
 * with the server. The cookie is for one path, is not readable for scripts, and goes with requests of other sites only
 * where the connection is safe from eavesdroppers.
 */
import { randomBytes } from 'node:crypto'
import { headerValues } from './headers.ts'

const cookieName = 'oh_workspace_session_key'
const lifeMs = 12 * 60 * 60 * 1000
/** The most tokens at once; a further one takes the place of the oldest. */
const tokenLimit = 1000

export class WorkspaceSessions {
  readonly #clock: () => number
  /** Ends of tokens, the oldest token first. */
  readonly #ends = new Map<string, number>()

  /** @param clock gives milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Makes a token and returns the value of the header `Set-Cookie`. */
  begin(isSafe: boolean): string {
    const token = randomBytes(32).toString('base64url')
    const [oldest] = this.#ends.keys()
    if (this.#ends.size >= tokenLimit && oldest !== undefined) this.#ends.delete(oldest)
    this.#ends.set(token, this.#clock() + lifeMs)
    return cookie(token, lifeMs / 1000, isSafe)
  }

  /** Ends the session of a request and returns the header that has the browser forget its cookie. */
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

/** The token in the only cookie of this name (RFC 6265, section 4.2.1). */
function tokenOf(rawHeaders: readonly string[]): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((value) => value.split(';'))
  const values = pairs.map((pair) => pair.trim()).filter((pair) => pair.startsWith(`${cookieName}=`))
  return values.length === 1 ? values[0]?.slice(cookieName.length + 1) : undefined
}
