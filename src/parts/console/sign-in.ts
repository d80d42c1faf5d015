/**
 * Sign-in to the console by a one-time code or a key, and the list of the signed-in sessions.
 *
 * The response that begins a session has the session's proof and sets its cookie, which scripts cannot read.
 */
import { bodyOf, ok, success, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { headerValues } from '../../http/headers.ts'
import type { Authority } from '../../http/origin.ts'
import { authorityText, hostOf, pageCookieName, type PageSessions } from '../../http/page-sessions.ts'
import type { NamedKeys } from '../../http/principal.ts'
import type { RefusedKeys } from '../../http/refused-keys.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { ConsoleSignInRequest } from './generated.ts'
import { codeLifeMs, type Codes } from './codes.ts'
import { lifeMs, type Sessions, type SessionView } from './sessions.ts'

export interface SignInParts {
  readonly codes: Codes
  readonly sessions: Sessions
  readonly pageSessions: PageSessions
  readonly namedKeys: NamedKeys
  readonly refusedCodes: RefusedKeys
  readonly log: Log
  /** The option `publicUrl`: the server's address for browsers. */
  readonly publicUrl: URL | undefined
  /** The option `basePath`: the path below which the server answers. */
  readonly basePath: string
}

const cookiePaths = ['api', 'sockets']

/**
 * Uses up a code and begins a session. If the request already has a session, begins none, and the `proof` in the
 * response is empty: the page keeps its session and proof.
 * @throws AppError `unauthorized` for a code that is not valid; `bad_request` without a readable header Host
 */
export async function signIn(parts: SignInParts, call: Call): Promise<HttpResponse> {
  const { codes, refusedCodes, log } = parts
  const { request, response } = call.exchange
  const outcome = codes.spend(bodyOf(call, ConsoleSignInRequest).code)
  if (typeof outcome === 'object') {
    return currentId(parts, call) === undefined ? begin(parts, call, outcome.key) : ok({ proof: '' })
  }
  if (outcome === 'spent') log.warn('A code of the console was used again: look at the list of its sessions')
  const refusal = new AppError('unauthorized', outcome === 'spent' ? spentCode : unknownCode)
  return new Promise((_, reject) => {
    const refuse = (): void => reject(refusal)
    response.once('close', refusedCodes.refuse(request.socket.remoteAddress, refuse, 'A code of the console'))
  })
}

/** Begins a session with the rights of the request's key. @throws AppError `bad_request` without a readable Host */
export function beginSession(parts: SignInParts, call: Call): Promise<HttpResponse> {
  return begin(parts, call, call.principal.keyId)
}

/**
 * Begins a session with the rights of the named key `key`; without `key`, with the rights of a session key.
 * @throws AppError `bad_request` without a readable header Host
 */
async function begin(
  { sessions, publicUrl, basePath }: SignInParts, call: Call, key: string | undefined,
): Promise<HttpResponse> {
  const { rawHeaders } = call.exchange.request
  const host = hostOf(rawHeaders)
  if (host === undefined) throw new AppError('bad_request', 'Could not read the Host header')
  const [label = ''] = headerValues(rawHeaders, 'user-agent')
  const { token, proof } = await sessions.begin({ host: authorityText(host), label, key })
  const cookie = { host, value: token, seconds: lifeMs / 1000, publicUrl, basePath }
  return { ...ok({ proof }), headers: cookies(rawHeaders, cookie) }
}

/** Ends the session of the request and has the browser forget its cookie. */
export function signOut(parts: SignInParts, call: Call): HttpResponse {
  const { sessions, publicUrl, basePath } = parts
  const { response, request: { rawHeaders } } = call.exchange
  const host = hostOf(rawHeaders)
  const id = currentId(parts, call)
  // The end of a session cuts the session's requests, also this request. So send the response first.
  if (id !== undefined) response.once('finish', () => void sessions.end(id))
  if (host === undefined) return success
  return { ...success, headers: cookies(rawHeaders, { host, value: '', seconds: 0, publicUrl, basePath }) }
}

export function listSessions(parts: SignInParts, call: Call): HttpResponse {
  const current = currentId(parts, call)
  const nameOf = (key: string): string | undefined => parts.namedKeys.source?.byId(key)?.name
  return ok({ items: parts.sessions.list().map((view) => shown(view, current, nameOf)) })
}

/** Ends the session that the path names. @throws AppError `not_found` */
export async function endSession({ sessions }: SignInParts, call: Call): Promise<HttpResponse> {
  const isThere = await sessions.end(parameterOf(call.parameters, 'session_id'))
  if (!isThere) throw new AppError('not_found', 'There is no such session')
  return success
}

export function makeCode({ codes }: SignInParts, call: Call): HttpResponse {
  return ok({ code: codes.make(call.principal.keyId), expires_in: codeLifeMs / 1000 })
}

/** Returns the id of the request's session; undefined without a session. */
function currentId({ pageSessions }: SignInParts, call: Call): string | undefined {
  const page = pageSessions.ofRequest(call.exchange.request.rawHeaders)
  return page.kind === 'given' ? page.session.id : undefined
}

function shown(
  { id, key, host, label, begun, used }: SessionView, current: string | undefined,
  nameOf: (key: string) => string | undefined,
): object {
  const at = (time: number): string => new Date(time).toISOString()
  const keyName = key === undefined ? null : (nameOf(key) ?? null)
  return { id, host, label, key_name: keyName, begun_at: at(begun), used_at: at(used), is_current: id === current }
}

interface Cookie extends Pick<SignInParts, 'publicUrl' | 'basePath'> {
  readonly host: Authority
  readonly value: string
  readonly seconds: number
}

/** Returns the headers that set the cookie, one for each of `cookiePaths`. A page over TLS gets a `Secure` cookie. */
function cookies(rawHeaders: readonly string[], { host, value, seconds, publicUrl, basePath }: Cookie): string[] {
  const isPublic = publicUrl !== undefined && host.name === publicUrl.hostname
  const before = isPublic ? publicUrl.pathname.replace(/\/$/, '') : basePath
  const isOverTls = headerValues(rawHeaders, 'origin').some((origin) => origin.startsWith('https:'))
  return cookiePaths.flatMap((path) => {
    const reach = `Path=${before}/${path}; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isOverTls ? '; Secure' : ''}`
    return ['Set-Cookie', `${pageCookieName(host)}=${value}; ${reach}`]
  })
}

const newAddress = 'run "agent-server console" for a new address, or sign in with the session key'
const spentCode = `The code was used already: ${newAddress}`
const unknownCode = `The code is not valid, or its time is over: ${newAddress}`
