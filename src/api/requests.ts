/**
 * Serves an HTTP request in this order: framing, target, Host and Origin, preflight, route, deferred init, key, audit
 * trail, right of the key, body, handler, response.
 *
 * The order guarantees that, for a route that needs a key, the key is checked before a body is read or a handler runs.
 */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { AppError } from '../base/errors.ts'
import { silentLog, type Log } from '../base/log.ts'
import { readBearerCredential, readHeaderCredential } from '../http/auth.ts'
import { readJsonBody, type BodyLimits } from '../http/body.ts'
import { framingFault, mayServe } from '../http/framing.ts'
import { announcesBody, headerValues } from '../http/headers.ts'
import {
  assertHost, assertOrigin, isPreflight, originRequestOf, preflightHeaders, purposeOf, type OriginRules,
} from '../http/origin.ts'
import { noteKeyHolder } from '../http/key-holders.ts'
import type { PageSessions } from '../http/page-sessions.ts'
import type { KeyRing, Principal } from '../http/principal.ts'
import { createExchange, send, type HttpResponse, type Exchange } from '../http/reply.ts'
import type { RefusedKeys } from '../http/refused-keys.ts'
import type { Router } from '../http/router.ts'
import { parseTarget, pathBelow, type Target } from '../http/target.ts'
import type { ObservedRequest, Traffic } from '../http/traffic.ts'
import type { Trail } from '../http/trail.ts'
import type { WorkspaceSessions } from '../http/workspace-sessions.ts'
import { invalid, type Call, type Route } from './call.ts'
import { deedOf } from './deed.ts'
import type { DeferredInit } from './deferred-init.ts'
import { anyone, assertAllowed, owner, stranger, type HasTag } from './permission.ts'
import { jsonResponse, problem } from './problem.ts'
import { tellRequest } from './request-log.ts'

export interface RequestRules {
  readonly router: Router<Route>
  readonly origins: OriginRules
  /** The session keys and the named keys; undefined when no key is required. */
  readonly keys: KeyRing | undefined
  readonly hasTag: HasTag
  readonly deferredInit: Pick<DeferredInit, 'fault' | 'holds' | 'credentialOf'>
  readonly refusedKeys: RefusedKeys
  readonly workspaceSessions: WorkspaceSessions
  readonly pageSessions: PageSessions
  /** The prefix of the paths of all routes; empty without a prefix. */
  readonly basePath: string
  readonly urlLimitBytes: number
  readonly body: BodyLimits
  readonly traffic: Traffic
  readonly trail: Trail
  readonly log: Log
  /** True when the log has the lines of level `debug`. */
  readonly logsEach: boolean
  /** A request that takes at least this long is logged at `info`. */
  readonly slowMs: number
  /** Masks known secrets in an error response, which may quote data of the request. */
  readonly mask: (text: string) => string
  /** Returns a new id for a request without a valid id of its client. */
  readonly nextRequestId: () => string
  /** Called for each allowed request. Not called for routes with the right `open`, `init` or `metrics`. */
  readonly onWork: () => void
  /** Returns why the server accepts no work; undefined while it accepts work. */
  readonly endingBecause: () => string | undefined
}

/** The `Retry-After` of a response while the server shuts down (RFC 9110, section 10.2.3). */
const retryAfterSeconds = 5

/** The paths that a load balancer may request under any Host. They show no stored data. */
const probes: readonly string[] = ['/alive', '/health', '/ready']

/** Returns the handler for `node:http`. The handler responds synchronously when it has nothing to wait for. */
export function createRequestHandler(
  rules: RequestRules,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (!mayServe(request, response)) return
    const begun = performance.now()
    const exchange = createExchange(request, response, rules.nextRequestId)
    try {
      const answer = respond(exchange, rules)
      if (answer instanceof Promise) replyLater(answer, exchange, begun, rules)
      else reply(exchange, answer, begun, rules)
    } catch (thrown) {
      fail(thrown, exchange, begun, rules)
    }
  }
}

/** Sends the response to a request that came at `begun`. Reports it to the log, the observers and the audit trail. */
function reply(exchange: Exchange, answer: HttpResponse, begun: number, rules: RequestRules): void {
  send(exchange, answer)
  const ms = performance.now() - begun
  tellRequest(rules, exchange, answer, ms)
  if (rules.traffic.isObserved) tellTraffic(exchange, answer, ms, rules)
  exchange.endDeed?.(answer.status, exchange.subject)
}

function replyLater(answer: Promise<HttpResponse>, exchange: Exchange, begun: number, rules: RequestRules): void {
  answer
    .then((settled) => reply(exchange, settled, begun, rules))
    .catch((thrown: unknown) => fail(thrown, exchange, begun, rules))
}

function fail(thrown: unknown, exchange: Exchange, begun: number, rules: RequestRules): void {
  const answer = masked(problem(thrown, rules.log, exchange.requestId, exchange.errorForm), rules.mask)
  reply(exchange, answer, begun, rules)
}

function tellTraffic(exchange: Exchange, { status }: HttpResponse, ms: number, { traffic }: RequestRules): void {
  traffic.answered(() => observed(exchange), exchange.response, status, ms)
}

function observed({ request, requestId, route, keyName }: Exchange): ObservedRequest {
  return { method: request.method, route, requestId, address: request.socket.remoteAddress, keyName }
}

function respond(exchange: Exchange, rules: RequestRules): HttpResponse | Promise<HttpResponse> {
  const { request } = exchange
  const fault = framingFault(request)
  if (fault !== undefined) return jsonResponse(fault, { detail: STATUS_CODES[fault] })
  const target = parseTarget(request.url ?? '/', rules.urlLimitBytes)
  const path = pathBelow(target.path, rules.basePath)
  const cors = path !== undefined && probes.includes(path) ? [] : admit(request, target, rules.origins)
  if (path === undefined) throw new AppError('not_found', 'Not Found')
  if (request.method === 'OPTIONS') return options(request, cors, methodsAt(path, rules))
  exchange.headers.push(...cors)
  const match = rules.router.match(request.method ?? 'GET', path)
  switch (match.kind) {
    case 'not_found':
      throw new AppError('not_found', 'Not Found')
    case 'method_not_allowed':
      exchange.headers.push('Allow', match.allow)
      throw new AppError('method_not_allowed', 'Method Not Allowed')
    case 'redirect':
      return { status: 307, headers: ['Location', locationOf(rules.basePath + match.path, target.query)] }
    case 'found':
      exchange.route = match.route.pattern
      exchange.errorForm = match.route.errorForm
      return serve(exchange, match.route, { parameters: match.parameters, query: target.query }, rules)
  }
}

function locationOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}

type Found = Pick<Call, 'parameters' | 'query'>

function serve(
  exchange: Exchange,
  route: Route,
  found: Found,
  rules: RequestRules,
): HttpResponse | Promise<HttpResponse> {
  if (rules.deferredInit.holds(route)) return unavailable(exchange, rules)
  const principal = admitted(exchange, route, rules)
  if (principal instanceof Promise) return principal
  const deed = deedOf(exchange, route, { principal, parameters: found.parameters })
  const writer = deed === undefined ? undefined : rules.trail.writer
  if (deed === undefined || writer === undefined) return serveFor(principal, exchange, route, found, rules)
  return writer.begin(deed).then((end) => {
    exchange.endDeed = end
    return serveFor(principal, exchange, route, found, rules)
  })
}

/**
 * Checks that the principal may use a route that needs a key. While the server shuts down, refuses a route that begins
 * work. Then calls the handler. Parses the JSON body for it, unless the handler reads the body itself.
 */
function serveFor(
  principal: Principal, exchange: Exchange, route: Route, found: Found, rules: RequestRules,
): HttpResponse | Promise<HttpResponse> {
  if (route.right !== 'open' && route.right !== 'init') {
    exchange.keyName = principal.name
    assertAllowed(principal, route, found.parameters, rules.hasTag)
    if (route.right !== 'metrics') rules.onWork()
    const ending = rules.endingBecause()
    if (ending !== undefined && beginsWork(route)) throw new AppError('unavailable', ending, { retryAfterSeconds })
  }
  // Each member is named, because V8 copies spread members more slowly.
  const { parameters, query } = found
  if (route.readsBody || !announcesBody(exchange.request)) {
    return route.handle({ exchange, principal, parameters, query, body: undefined })
  }
  return readJsonBody(exchange.request, rules.body).then((read) => {
    if (!read.ok) throw invalid(read.issues)
    return route.handle({ exchange, principal, parameters, query, body: read.value })
  })
}

/** True for a route that may begin the work of an agent or a command. Such a route is refused during a shutdown. */
function beginsWork({ method, right, isIdle }: Route): boolean {
  return method === 'POST' && (right === 'drive' || right === 'execute') && !isIdle
}

/** Returns the principal that makes a request. Rejects and throws like `initRefusalOf` and `holderOf`. */
function admitted(exchange: Exchange, { right }: Route, rules: RequestRules): Principal | Promise<never> {
  switch (right) {
    case 'open': return stranger
    case 'init': return initRefusalOf(exchange, rules) ?? stranger
    case 'workspace': return ofWorkspaceSession(exchange, rules) ?? holderOf(exchange, rules)
    default: return holderOf(exchange, rules)
  }
}

/** Returns the 503 response of a dormant server. Its error is not logged, because strangers could fill the log. */
function unavailable(exchange: Exchange, { deferredInit }: RequestRules): HttpResponse {
  return problem(deferredInit.fault, silentLog, exchange.requestId, exchange.errorForm)
}

function masked({ body = Buffer.alloc(0), ...answer }: HttpResponse, mask: (text: string) => string): HttpResponse {
  return { ...answer, body: Buffer.from(mask(body.toString())) }
}

/** Checks Host and Origin. Returns the CORS headers. @throws the errors of `assertHost` and `assertOrigin` */
function admit(request: IncomingMessage, target: Target, rules: OriginRules): readonly string[] {
  const { method, rawHeaders } = request
  const host = assertHost({ hosts: headerValues(rawHeaders, 'host'), authority: target.authority }, rules)
  return assertOrigin(originRequestOf(rawHeaders, host, purposeOf(method)), rules)
}

/** Returns the value of `Allow` for a path: its methods, or all methods if the path has no route, such as `*`. */
function methodsAt(path: string, { router }: RequestRules): string {
  const match = router.match('OPTIONS', path)
  const methods = match.kind === 'method_not_allowed' ? match.allow : 'GET, HEAD, POST, PUT, PATCH, DELETE'
  return `${methods}, OPTIONS`
}

function options(request: IncomingMessage, corsHeaders: readonly string[], allow: string): HttpResponse {
  const { rawHeaders } = request
  const methods = headerValues(rawHeaders, 'access-control-request-method')
  if (!isPreflight(headerValues(rawHeaders, 'origin'), methods)) {
    return { status: 204, headers: [...corsHeaders, 'Allow', allow] }
  }
  const headers = headerValues(rawHeaders, 'access-control-request-headers')
  return { status: 200, headers: preflightHeaders({ corsHeaders, methods, headers }) }
}

/**
 * Returns the holder of the request's key or page session; `anyone` if the server asks for no key. Rejects a wrong key
 * or proof, perhaps after a delay (`refused-keys`).
 * @throws AppError `unauthorized` without a key and without a session
 */
function holderOf(
  { request, response, route = '' }: Exchange, { keys, refusedKeys, pageSessions }: RequestRules,
): Principal | Promise<never> {
  const { rawHeaders, socket } = request
  // Prometheus and the clients of `/v1/` send the key as a bearer token (contract/others.md, section 0.1).
  const mayBear = route.startsWith('/v1/') || route === '/metrics'
  const credential = mayBear ? readBearerCredential(rawHeaders) : readHeaderCredential(rawHeaders)
  const known = credential.kind === 'given' ? keys?.find(credential.key) : undefined
  const holder = keys === undefined ? anyone : known
  if (holder !== undefined) {
    noteKeyHolder(socket)
    if (holder.keyId !== undefined) response.once('close', holder.hold(() => response.destroy()))
    return holder
  }
  const refusal = new AppError('unauthorized', 'Unauthorized')
  if (credential.kind === 'absent') {
    const page = pageSessions.ofRequest(rawHeaders)
    if (page.kind === 'absent') throw refusal
    if (page.kind === 'given') {
      noteKeyHolder(socket)
      response.once('close', page.session.hold(() => response.destroy()))
      return page.session.principal ?? owner
    }
  }
  return new Promise((_, reject) => {
    const refuse = (): void => reject(refusal)
    const refused = credential.kind === 'absent' ? 'A session of the console' : 'A session key'
    response.once('close', refusedKeys.refuse(socket.remoteAddress, refuse, refused))
  })
}

/**
 * Checks the key of a request to `POST /api/init`. Returns undefined if the request is allowed. For a wrong key, the
 * returned promise rejects with `unauthorized`, perhaps after a delay (`refused-keys`).
 * @throws AppError `not_found` when init is not deferred, `unauthorized` without a key
 */
function initRefusalOf(
  { request, response }: Exchange, { deferredInit, refusedKeys }: RequestRules,
): Promise<never> | undefined {
  const credential = deferredInit.credentialOf(request.rawHeaders)
  if (credential === 'right') return undefined
  const refusal = new AppError('unauthorized', 'Unauthorized')
  if (credential === 'absent') throw refusal
  return new Promise((_, reject) => {
    const refuse = (): void => reject(refusal)
    response.once('close', refusedKeys.refuse(request.socket.remoteAddress, refuse, 'The key of an init'))
  })
}

/** Returns the holder of the workspace session in the cookie; undefined without one, or if the request has a key. */
function ofWorkspaceSession(
  { request: { rawHeaders } }: Exchange, { workspaceSessions }: RequestRules,
): Principal | undefined {
  return readHeaderCredential(rawHeaders).kind === 'absent' ? workspaceSessions.find(rawHeaders) : undefined
}
