/**
 * Serves requests to upgrade to WebSocket.
 *
 * A refused upgrade gets an ordinary HTTP response. A wrong parameter and a wrong key both get 403, as existing clients
 * expect (contract/websocket.md, section 2). Without a key the upgrade is accepted: the key may come in the first
 * frame.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, errorOf, messageOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { access } from '../access.ts'
import { readSocketCredential } from '../http/auth.ts'
import { newestAnswer } from '../http/framing.ts'
import { noteKeyHolder } from '../http/key-holders.ts'
import type { PageSession, PageSessions } from '../http/page-sessions.ts'
import type { KeyRing, Principal } from '../http/principal.ts'
import type { RefusedKeys } from '../http/refused-keys.ts'
import { announcesBody, headerValues } from '../http/headers.ts'
import { assertHost, assertOrigin, originRequestOf, type OriginRules } from '../http/origin.ts'
import { readQuery, uuid } from '../http/query.ts'
import { createRouter, parameterOf, type PathParameters, type RoutePattern, type Router } from '../http/router.ts'
import { requestIdOf } from '../http/reply.ts'
import { parseTarget, pathBelow } from '../http/target.ts'
import type { ObservedRequest, Traffic } from '../http/traffic.ts'
import { Compression } from '../ws/compression.ts'
import { Departure } from '../ws/departure.ts'
import { Pulse } from '../ws/heartbeat.ts'
import { defaultLimits, type ConnectionLimits } from '../ws/limits.ts'
import { acceptUpgrade, refuseUpgrade } from '../ws/upgrade.ts'
import type { WebSocketConnection } from '../ws/connection.ts'
import type { DeferredInit } from './deferred-init.ts'
import { serveEventSocket, type EventSocketRules } from './event-socket.ts'
import { anyone, assertAllowed, owner, type Guarded } from './permission.ts'
import { resendFields, resendOf, type Resend } from './resend.ts'
import { admitSocket, type Admission, type AdmissionRules } from './socket-auth.ts'

export interface SocketRoute extends RoutePattern, Guarded {
  /** Checks the parameters of a request. Returns a function that serves its connection. @throws AppError */
  open(parameters: PathParameters, query: string): ServeSocket
}

type ServeSocket = (connection: WebSocketConnection, principal: Principal, address: string | undefined) => void

export interface UpgradeRules extends EventSocketRules, AdmissionRules {
  /** The routes of the parts' sockets. The event socket is not among them. */
  readonly sockets: readonly SocketRoute[]
  readonly origins: OriginRules
  readonly keys: KeyRing | undefined
  readonly deferredInit: Pick<DeferredInit, 'fault'>
  readonly pageSessions: PageSessions
  /** The prefix of the paths of all sockets; empty without a prefix. */
  readonly basePath: string
  readonly urlLimitBytes: number
  readonly limits: Partial<ConnectionLimits>
  /** True to use permessage-deflate with every client that offers it. */
  readonly compresses: boolean
  readonly traffic: Traffic
  /** Returns a new id for a request. Not called when the client sent a valid id. */
  readonly nextRequestId: () => string
}

/** Returns the upgrade handler for `node:http`. The handler never throws. */
export function createUpgradeHandler(
  rules: UpgradeRules,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const compression = rules.compresses ? new Compression() : undefined
  const limits = { ...defaultLimits, ...rules.limits }
  const options = { limits, compression, departure: new Departure(), pulse: new Pulse(limits) }
  const router = createRouter([eventSocketRoute(rules), ...rules.sockets])
  return (request, socket, head) => {
    if (standsBehind(socket)) return
    const { traffic } = rules
    const begun = performance.now()
    const requestId = requestIdOf(request, rules.nextRequestId)
    const attempt: Attempt = { requestId, route: undefined, keyName: undefined }
    const observed = (): ObservedRequest => observedOf(request, attempt)
    const refused = (status: number): void => traffic.refused(observed, socket, status, performance.now() - begun)
    const refuse = (thrown: unknown): void => refused(refuseFor(socket, thrown, rules.log))
    try {
      const { parameters, serve, admission } = check(request, router, rules, attempt)
      const upgrade = acceptUpgrade(request, socket, head, options)
      rules.log.debug('Upgrade', { route: attempt.route, ...parameters, status: upgrade.ok ? 101 : 400 })
      if (!upgrade.ok) return refused(upgrade.status)
      const { remoteAddress } = request.socket
      admitSocket(upgrade.connection, admission, rules, (by) => serve(upgrade.connection, by, remoteAddress))
      traffic.opened(observed, socket, upgrade.connection)
    } catch (thrown) {
      if (thrown === wrongKey) refuseLater(request, socket, rules.refusedKeys, () => refuse(wrongKey))
      else refuse(thrown)
    }
  }
}

function observedOf({ method, socket }: IncomingMessage, attempt: Readonly<Attempt>): ObservedRequest {
  return { method, address: socket.remoteAddress, ...attempt }
}

/**
 * True when an earlier response on the connection is incomplete, or will close the connection. Then no upgrade is made,
 * because frames could mix with that response. After an incomplete response, refuses the upgrade with 400.
 */
function standsBehind(socket: Duplex): boolean {
  const before = newestAnswer(socket)
  if (before === undefined || (before.writableFinished && before.shouldKeepAlive)) return false
  socket.on('error', () => socket.destroy()) // The client is gone.
  if (!before.writableFinished) {
    before.once('close', () => refuseUpgrade(socket, 400, JSON.stringify({ detail: 'Bad Request' })))
  }
  return true
}

function eventSocketRoute(rules: EventSocketRules): SocketRoute {
  return {
    method: 'GET',
    pattern: '/sockets/events/{conversation_id}',
    right: access['GET /sockets/events/{conversation_id}'],
    isForRestricted: true,
    open(parameters, query) {
      const id = uuid().read([parameterOf(parameters, 'conversation_id')])
      if (!id.ok || id.value === undefined) throw forbidden('the conversation id is not a UUID')
      const conversationId = id.value
      const resend = resendFrom(query)
      return (connection, principal, address) => {
        serveEventSocket(connection, { conversationId, resend, principal, address }, rules)
      }
    },
  }
}

/** The facts about an upgrade that observers get. `route` and `keyName` are set when they become known. */
interface Attempt {
  readonly requestId: string
  /** The pattern of the matching route; undefined when none matched so far. */
  route: string | undefined
  /** The `name` of the client's principal; undefined until the client is authenticated. */
  keyName: string | undefined
}

interface Checked {
  readonly parameters: PathParameters
  readonly serve: ServeSocket
  readonly admission: Admission
}

function check(
  request: IncomingMessage, router: Router<SocketRoute>, rules: UpgradeRules, attempt: Attempt,
): Checked {
  const { rawHeaders } = request
  // A request body comes before the first frame (RFC 9110, section 7.8). Node would take its bytes for frames.
  if (announcesBody(request)) {
    throw new AppError('bad_request', 'Could not open the socket: expected a request without a body')
  }
  const target = parseTarget(request.url ?? '/', rules.urlLimitBytes)
  const host = assertHost({ hosts: headerValues(rawHeaders, 'host'), authority: target.authority }, rules.origins)
  assertOrigin(originRequestOf(rawHeaders, host, 'change'), rules.origins)
  const path = pathBelow(target.path, rules.basePath)
  const match = path === undefined ? undefined : router.match('GET', path)
  if (match?.kind !== 'found') throw new AppError('not_found', 'Not Found')
  attempt.route = match.route.pattern
  if (rules.deferredInit.fault !== undefined) throw rules.deferredInit.fault
  const { route, parameters } = match
  const serve = route.open(parameters, target.query)
  const { by, page } = authenticate(request, target.query, rules)
  if ('rights' in by) assertMayOpen(by, route)
  const onAdmitted = (connection: WebSocketConnection, principal: Principal): boolean => {
    noteKeyHolder(request.socket)
    attempt.keyName = principal.name
    try {
      assertMayOpen(principal, route)
    } catch (thrown) {
      connection.close(refusedKey, messageOf(thrown))
      return false
    }
    // While the socket is open, a named key or a session of the console can end, but not a session key.
    if (page === undefined && principal.keyId === undefined) return true
    const release = (page ?? principal).hold(() => {
      connection.close(refusedKey, page === undefined ? 'The key has ended' : 'Signed out')
      const timer = setTimeout(() => connection.terminate(), endingMs)
      request.socket.once('close', () => clearTimeout(timer))
    })
    request.socket.once('close', release)
    return true
  }
  const given = page === undefined ? 'A session key' : 'A session of the console'
  return { parameters, serve, admission: { by, address: request.socket.remoteAddress, onAdmitted, given } }
}

/** Checks that the key may use the route. `EventSocket` checks later if a key with a tag may see the conversation. */
function assertMayOpen(principal: Principal, route: SocketRoute): void {
  assertAllowed(principal, route, {}, () => false)
}

function resendFrom(query: string): Resend {
  const read = readQuery(query, resendFields)
  if (read.ok) return resendOf(read.value)
  throw forbidden(`the query parameter "${String(read.issues[0]?.loc[1])}" is not valid`)
}

/** The close code of a socket whose key or session has ended, or whose key lacks the right of the route. */
const refusedKey = 4001
/** When a key or session ends, the client has this time, in ms, to answer the Close frame. Then its socket is cut. */
const endingMs = 500

interface Authentication {
  /** The client, if it is known already. Otherwise the key ring that finds the client by its first frame. */
  readonly by: Principal | KeyRing
  /** The console's session from the request's cookie. The first frame must have the proof of this session. */
  readonly page?: PageSession
}

/** Checks the key or the cookie of an upgrade request. Throws `wrongKey` for a wrong key and for several keys. */
function authenticate(
  { rawHeaders }: IncomingMessage, query: string, { keys, pageSessions }: UpgradeRules,
): Authentication {
  if (keys === undefined) return { by: anyone }
  const credential = readSocketCredential(rawHeaders, query)
  if (credential.kind === 'absent') {
    const page = pageSessions.ofUpgrade(rawHeaders)
    if (page === undefined) return { by: keys }
    return { by: { find: (proof) => (page.hasProof(proof) ? (page.principal ?? owner) : undefined) }, page }
  }
  const holder = credential.kind === 'given' ? keys.find(credential.key) : undefined
  if (holder === undefined) throw wrongKey
  return { by: holder }
}

function forbidden(why: string): AppError {
  return new AppError('origin_not_allowed', `Could not open the socket: ${why}`)
}

/** Calls `refuse`, now or after a delay (`refused-keys`). Without a listener, a socket error would end the process. */
function refuseLater(
  { socket: { remoteAddress } }: IncomingMessage, socket: Duplex, refusedKeys: RefusedKeys, refuse: () => void,
): void {
  socket.on('error', () => socket.destroy()) // The client is gone.
  socket.once('close', refusedKeys.refuse(remoteAddress, refuse))
}

const wrongKey = forbidden('the session key is not valid')

const statusOf: Partial<Record<string, number>> = {
  bad_request: 400, not_found: 404, uri_too_long: 414, part_missing: 501, unavailable: 503,
}

function refuseFor(socket: Duplex, thrown: unknown, log: Log): number {
  if (!(thrown instanceof AppError)) log.error('An upgrade failed unexpectedly', { error: errorOf(thrown) })
  const status = thrown instanceof AppError ? (statusOf[thrown.code] ?? 403) : 500
  const detail = thrown instanceof AppError ? thrown.message : 'Internal Server Error'
  log.debug('Upgrade', { status, reason: detail })
  refuseUpgrade(socket, status, JSON.stringify({ detail }))
  return status
}
