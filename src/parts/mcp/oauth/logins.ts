/**
 * Gives requests to an MCP server their bearer token. Renews a token shortly before it expires, and when the server
 * refuses it (MCP 2025-11-25, authorization, "Token Handling"; RFC 6750).
 *
 * Each server has at most one renewal at a time. A caller that aborts does not stop the renewal, because a refresh
 * token may be valid for one use only.
 */
import { AppError } from '../../../base/errors.ts'
import type { Clock } from '../../../base/stamp.ts'
import { untilAborted, within } from '../../../base/wait.ts'
import type { StoredFile } from '../../../settings/stored-file.ts'
import { addressIn, reachOf } from './documents.ts'
import { keyOf, newest, withKept, withoutName, type KeptLogins, type LoginServer } from './login-file.ts'
import { loginFrom, loginOf, type Login } from './login.ts'
import { GrantRefusedError, refreshTokens } from './token-endpoint.ts'

/** Gives a transport its bearer token. */
export interface Bearer {
  /** Returns the token, renewed if it expires soon. @throws LoginRequiredError, AppError, or the signal's reason */
  token(signal: AbortSignal): Promise<string>
  /** Returns a token other than the refused token. @throws LoginRequiredError, AppError, or the signal's reason */
  renewed(refused: string, signal: AbortSignal): Promise<string>
}

/** The error for an MCP server to which nobody has a valid login. */
export class LoginRequiredError extends AppError {
  constructor() {
    super('upstream_failed', 'Nobody is signed in to the server: expected a login by POST /api/mcp/oauth/start')
  }
}

export interface Logins {
  /** Returns the token source of a server; `state` is the `auth.state` in its settings. */
  bearer(server: LoginServer, state: unknown): Bearer
  /** Returns the stored login or the login in `state`, as `newest` chooses. @throws AppError `settings_unreadable` */
  find(server: LoginServer, state: unknown): Promise<Login | undefined>
  /** Stores a new login. @throws AppError `settings_unreadable`, `storage_full`, `storage_failed` */
  put(server: LoginServer, login: Login): Promise<void>
  /** Forgets the logins of all servers with this name. Returns false if there is none. @throws the errors of `put` */
  forget(name: string): Promise<boolean>
  /** Waits up to 5 s for running renewals, then ends them, although their refresh tokens may already be used up. */
  close(): Promise<void>
}

export interface LoginsOptions {
  readonly file: StoredFile<KeptLogins>
  readonly clock: Clock
}

/** A token is renewed this many milliseconds before its expiry, or when half of its life is over if that is later. */
const earlyMs = 60_000
const closePatienceMs = 5000

export function createLogins(options: LoginsOptions): Logins {
  const { file, clock } = options
  const stop = new AbortController()
  const renewals = new Map<string, Promise<Login>>()

  const find: Logins['find'] = async (server, state) =>
    newest((await file.read()).get(keyOf(server)), loginOf(state, server.url))
  const renew = (server: LoginServer, login: Login, state: unknown): Promise<Login> => {
    const key = keyOf(server)
    const renewal = renewals.get(key) ?? renewOrEnd(server, login, state).finally(() => renewals.delete(key))
    renewals.set(key, renewal)
    return renewal
  }
  const renewOrEnd = async (server: LoginServer, login: Login, state: unknown): Promise<Login> => {
    const current = found(await find(server, state))
    // If another caller has renewed the login meanwhile, the old refresh token must not be sent again.
    if (current.accessToken !== login.accessToken) return current
    try {
      return await keep(server, await refreshed(server, login, clock, stop.signal))
    } catch (error) {
      if (!(error instanceof GrantRefusedError)) throw error
      await file.update((logins) => withoutToken(logins, server, login.accessToken, clock()))
      return found(await find(server, state))
    }
  }
  const keep = async (server: LoginServer, login: Login): Promise<Login> => {
    await file.update((logins) => withLogin(logins, keyOf(server), login))
    return login
  }
  const bearer = (server: LoginServer, state: unknown): Bearer => ({
    async token(signal) {
      const login = found(await find(server, state))
      if (!isEnding(login, clock())) return login.accessToken
      return (await untilAborted(renew(server, login, state), signal)).accessToken
    },
    async renewed(refused, signal) {
      const login = found(await find(server, state))
      // If another caller has already renewed the login, its token is new.
      if (login.accessToken !== refused) return login.accessToken
      return (await untilAborted(renew(server, login, state), signal)).accessToken
    },
  })

  return {
    bearer,
    find,
    put: async (server, login) => void (await keep(server, login)),
    async forget(name) {
      const before = await file.read()
      const after = await file.update((logins) => withoutName(logins, name))
      return after.size < before.size
    },
    async close() {
      const all = Promise.allSettled(renewals.values())
      await within(all, closePatienceMs)
      stop.abort(new AppError('unavailable', 'The server is stopping'))
      await all
    },
  }
}

function withLogin(logins: KeptLogins, key: string, login: Login): KeptLogins {
  return withKept(logins, key, { login, since: login.obtainedAt, refused: logins.get(key)?.refused })
}

function found(login: Login | undefined): Login {
  if (login === undefined) throw new LoginRequiredError()
  return login
}

/** True when the token can be renewed and is near its expiry (`earlyMs`). */
function isEnding({ expiresAt, obtainedAt, refreshToken, source }: Login, now: number): boolean {
  if (expiresAt === undefined || refreshToken === undefined || source === undefined) return false
  return now >= expiresAt - Math.min(earlyMs, (expiresAt - obtainedAt) / 2)
}

async function refreshed(server: LoginServer, login: Login, clock: Clock, signal: AbortSignal): Promise<Login> {
  const { source, refreshToken } = login
  if (source === undefined || refreshToken === undefined) {
    throw new GrantRefusedError('upstream_failed', 'The login cannot be renewed')
  }
  const reach = reachOf(server.url, signal)
  const endpoint = addressIn(source.endpoint, 'token endpoint', reach)
  const tokens = await refreshTokens(
    { endpoint, client: source.client, resource: source.resource }, refreshToken, reach,
  )
  return loginFrom(tokens, source, clock(), login)
}

/** Returns the logins with this token recorded as refused. The stored login ends, unless it has another token. */
function withoutToken(logins: KeptLogins, server: LoginServer, refused: string, now: number): KeptLogins {
  const key = keyOf(server)
  const login = logins.get(key)?.login
  return withKept(logins, key, { login: login?.accessToken === refused ? undefined : login, since: now, refused })
}
