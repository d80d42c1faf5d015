/**
 * Deferred init: a server that starts dormant refuses requests to some routes (`holds`) with 503 until a
 * `POST /api/init` has succeeded (contract/others.md, section 9).
 *
 * The init needs a key of its own, `X-Init-API-Key`, if the server is started with one. Its body can set the server's
 * session keys; other members with a value are refused. A restarted server is dormant again.
 */
import { AppError } from '../base/errors.ts'
import { createSessionKeys, readInitCredential, type Credential, type SessionKeys } from '../http/auth.ts'
import type { HttpResponse } from '../http/reply.ts'
import { InitRequest } from '../schema/generated/api.ts'
import { invalid, ok, optionalBodyOf, type Call, type Route } from './call.ts'

export interface DeferredInitOptions {
  /** True for a server that starts dormant. */
  readonly isDeferred: boolean
  /** The key for `POST /api/init`; undefined when the init needs no key. */
  readonly key: string | undefined
  /** The fewest characters of a session key that the init may set. */
  readonly minKeyChars: number
  /** Replaces all session keys of the server. */
  readonly replaceKeys: (keys: readonly string[]) => void
}

const pattern = '/api/init'

export class DeferredInit {
  readonly #options: DeferredInitOptions
  readonly #keys: SessionKeys | undefined
  #isDormant: boolean

  constructor(options: DeferredInitOptions) {
    this.#options = options
    this.#keys = options.key === undefined ? undefined : createSessionKeys([options.key])
    this.#isDormant = options.isDeferred
  }

  /** The error for the requests that a dormant server refuses; undefined when the server is not dormant. */
  get fault(): AppError | undefined {
    return this.#isDormant ? new AppError('unavailable', 'The server waits for POST /api/init') : undefined
  }

  /** True for a route that a dormant server refuses: one that needs a key or is below `/api/`, except `/api/init`. */
  holds(route: Pick<Route, 'right' | 'pattern'>): boolean {
    if (!this.#isDormant || route.pattern === pattern) return false
    return route.right !== 'open' || route.pattern.startsWith('/api/')
  }

  /**
   * Checks the key in the headers of a request for the init. Returns `right` also when no key is needed.
   * @throws AppError `not_found` without a deferred init
   */
  credentialOf(rawHeaders: readonly string[]): 'right' | Exclude<Credential['kind'], 'given'> | 'wrong' {
    this.#assertDeferred()
    if (this.#keys === undefined) return 'right'
    const credential = readInitCredential(rawHeaders)
    if (credential.kind !== 'given') return credential.kind
    return this.#keys.has(credential.key) ? 'right' : 'wrong'
  }

  state(): HttpResponse {
    this.#assertDeferred()
    return ok({ state: this.#isDormant ? 'dormant' : 'ready' })
  }

  /** Initializes the server. @throws AppError `not_found`, `bad_request` after the first init, `invalid_input` */
  init(call: Call): HttpResponse {
    this.#assertDeferred()
    if (!this.#isDormant) throw new AppError('bad_request', 'The server is initialized already')
    const { session_api_keys: keys, ...others } = optionalBodyOf(call, InitRequest)
    assertAbsent(others)
    if (keys !== null) {
      this.#assertLongEnough(keys)
      this.#options.replaceKeys(keys)
    }
    this.#isDormant = false
    return this.state()
  }

  #assertDeferred(): void {
    if (!this.#options.isDeferred) throw new AppError('not_found', 'This server was started without --deferred-init')
  }

  #assertLongEnough(keys: readonly string[]): void {
    const { minKeyChars } = this.#options
    const short = keys.findIndex((key) => key.length < minKeyChars)
    if (short === -1) return
    const msg = `Value error, other machines can reach this server: expected at least ${minKeyChars} characters`
    throw invalid([{ type: 'value_error', loc: ['body', 'session_api_keys', short], msg }])
  }
}

/** Refuses each member that has a value. @throws AppError `invalid_input` */
function assertAbsent(members: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(members).filter((name) => members[name] !== undefined && members[name] !== null)
  if (given.length === 0) return
  const msg = 'Value error, this server takes no such value at its init: give the option at its start'
  throw invalid(given.map((name) => ({ type: 'value_error', loc: ['body', name], msg })))
}
