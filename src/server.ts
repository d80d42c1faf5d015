/** Makes the HTTP and WebSocket handlers of an `App`, and a listener for a program without its own HTTP server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Route } from './api/call.ts'
import { DeferredInit } from './api/deferred-init.ts'
import type { Meta } from './api/meta.ts'
import { owner } from './api/permission.ts'
import { createRequestHandler } from './api/requests.ts'
import { createRoute, createRoutes, type RouteRules } from './api/routes.ts'
import { createUpgradeHandler, type SocketRoute } from './api/upgrades.ts'
import type { App } from './app.ts'
import type { Log } from './base/log.ts'
import type { Clock } from './base/stamp.ts'
import { publicKeyChars, type Config } from './config.ts'
import { createSessionKeys } from './http/auth.ts'
import { isLoopbackName, type OriginRules } from './http/origin.ts'
import type { KeyRing } from './http/principal.ts'
import { RefusedKeys } from './http/refused-keys.ts'
import { createRouter } from './http/router.ts'
import { HttpServer } from './http/server.ts'
import { keepTickShape } from './http/tick-shape.ts'
import type { Traffic } from './http/traffic.ts'
import { notLoaded, type LoadedParts } from './loaded-parts.ts'
import type { Part } from './part.ts'
import { version } from './version.ts'

/** Features of this server beyond its API level. Clients look for names that they know. */
const capabilities: readonly string[] = [
  'event_resume_v1', 'event_stream_v1', 'idempotency_keys_v1', 'pending_confirmations_v1',
]

/** An event stream that is silent for this time sends a comment. Proxies often close a stream after 60 s of silence. */
const streamHeartbeatMs = 15_000

export interface Handlers {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export interface HandlerOptions {
  readonly app: App
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  /** Returns a text with known secrets masked. */
  readonly mask: (text: string) => string
  /** Returns why the server accepts no work; undefined while it accepts work. */
  readonly endingBecause: () => string | undefined
  /** Called with the new session keys when `POST /api/init` sets them. */
  readonly onSessionKeys: (keys: readonly string[]) => void
}

/** Creates the handlers, which a host program may mount on its own HTTP server. */
export function createHandlers(options: HandlerOptions): Handlers {
  const { app, config, log, clock, mask, endingBecause } = options
  keepTickShape()
  const entrance = sessionKeysOf(options)
  const { traffic } = app.parts
  const { trail } = app.parts.core
  const nextRequestId = createRequestIds(clock)
  const refusedKeys = new RefusedKeys(log, clock)
  const origins = originRules(config, entrance.keys !== undefined)
  let lastWorkAt = clock()
  const ofParts = partRoutes(app.parts)
  const ofCore = createRoutes({
    service: app.service, vault: app.vault, creation: app.creation, reserve: app.reserve,
    settings: app.settings, profiles: app.profiles, secrets: app.secrets,
    profileUsers: app.profileUsers,
    keys: { clock, fingerprint: app.fingerprint },
    stream: { heartbeatMs: streamHeartbeatMs, stallTimeoutMs: config.readerStallMs },
    deferredInit: entrance.deferredInit,
    meta: metaOf(options, () => clock() - lastWorkAt),
  })
  return {
    request: createRequestHandler({
      router: createRouter([...ofCore, ...ofParts]),
      origins,
      keys: entrance.keys, deferredInit: entrance.deferredInit,
      hasTag: app.service.hasTag,
      refusedKeys,
      workspaceSessions: app.parts.core.workspaceSessions,
      pageSessions: app.parts.core.pageSessions,
      basePath: config.basePath,
      urlLimitBytes: config.urlLimitBytes,
      body: { limitBytes: config.bodyLimitBytes, timeoutMs: config.bodyTimeoutMs, valueLimit: config.jsonValueLimit },
      log,
      logsEach: config.logLevel === 'debug',
      slowMs: config.slowRequestMs,
      mask,
      nextRequestId, traffic, trail,
      onWork: () => (lastWorkAt = clock()),
      endingBecause,
    }),
    upgrade: createUpgradeHandler({
      service: app.service,
      sockets: partSockets(app.parts),
      origins,
      keys: entrance.keys, deferredInit: entrance.deferredInit,
      refusedKeys,
      pageSessions: app.parts.core.pageSessions,
      basePath: config.basePath,
      urlLimitBytes: config.urlLimitBytes,
      messageLimitBytes: config.messageLimitBytes,
      valueLimit: config.jsonValueLimit,
      authTimeoutMs: config.authTimeoutMs,
      limits: { maxMessageBytes: config.messageLimitBytes, stallTimeoutMs: config.readerStallMs },
      compresses: !config.noCompression,
      nextRequestId, traffic, trail,
      log,
      endingBecause,
    }),
  }
}

function metaOf({ app, config, clock, endingBecause }: HandlerOptions, idleMs: () => number): Meta {
  return {
    productVersion: version,
    capabilities,
    usableTools: () => app.parts.tools(),
    parts: app.parts.allowed.map(({ name }) => name),
    docs: config.basePath + (app.parts.routes.includes('GET /docs') ? '/docs' : '/openapi.json'),
    description: app.parts.core.description,
    limits: () => app.parts.core.admission.rules?.limits ?? {},
    clock,
    startedAt: clock(),
    idleMs,
    unreadyBecause: async () => endingBecause() ?? (await app.reserve.problem()) ?? app.sealProblem(),
  }
}

interface KeysAndInit {
  /** The current session keys and the named keys; undefined when no key is required. */
  readonly keys: KeyRing | undefined
  readonly deferredInit: DeferredInit
}

/** Makes the object that finds the holder of a key, and `DeferredInit`, which may replace the session keys. */
function sessionKeysOf({ app, config, onSessionKeys }: HandlerOptions): KeysAndInit {
  const { deferredInit: isDeferred, secretKey, host } = config
  let current = createSessionKeys(app.sessionKeys)
  const { namedKeys } = app.parts.core
  const keys = app.sessionKeys.length === 0 ? undefined : {
    find: (candidate: string) => (current.has(candidate) ? owner : namedKeys.source?.find(candidate)),
  }
  const deferredInit = new DeferredInit({
    isDeferred,
    key: isDeferred ? secretKey : undefined,
    minKeyChars: isLoopbackName(host) ? 1 : publicKeyChars,
    replaceKeys(delivered) {
      current = createSessionKeys(delivered)
      onSessionKeys(delivered)
    },
  })
  return { keys, deferredInit }
}

/** Returns the routes of the parts. A route of a part that `--parts` leaves out answers 501. */
function partRoutes(parts: LoadedParts): Route[] {
  const loaded = parts.allowed.flatMap((part) => guardedRoutes(part).map(([name, guarded]) => {
    const route = createRoute(name, guarded, parts.handler(part, name), part.uploads?.includes(name))
    return { ...route, errorForm: part.errorForm }
  }))
  const others = parts.notLoaded.flatMap((part) => guardedRoutes(part).map(([name, guarded]) => {
    return createRoute(name, guarded, () => Promise.reject(notLoaded(part)), true)
  }))
  return [...loaded, ...others]
}

function guardedRoutes({ routes = {}, forRestricted = [], idle = [] }: Part): [name: string, guarded: RouteRules][] {
  return Object.entries(routes).map(([name, right]) => {
    return [name, { right, isForRestricted: forRestricted.includes(name), isIdle: idle.includes(name) }]
  })
}

/** Returns the sockets of the parts. A socket of a part that `--parts` leaves out answers 501. */
function partSockets(parts: LoadedParts): SocketRoute[] {
  const loaded = socketsOf(parts.allowed, (part, name, query) => {
    return (connection) => parts.serveSocket(part, name, connection, query)
  })
  return [...loaded, ...socketsOf(parts.notLoaded, (part) => {
    throw notLoaded(part)
  })]
}

type OpenSocket = (part: Part, name: string, query: string) => ReturnType<SocketRoute['open']>

function socketsOf(parts: readonly Part[], open: OpenSocket): SocketRoute[] {
  return parts.flatMap((part) => Object.entries(part.sockets ?? {}).map(([name, right]): SocketRoute => ({
    method: 'GET',
    pattern: name.replace('GET ', ''),
    right,
    isForRestricted: false,
    open: (_, query) => open(part, name, query),
  })))
}

/** Creates a listener with the configured limits for these handlers. */
export function createListener(handlers: Handlers, config: Config, traffic: Traffic): HttpServer {
  const { headerLimitBytes, connectionLimit, headersTimeoutMs, keepAliveTimeoutMs, uploadTimeoutMs } = config
  return new HttpServer({
    handle: handlers.request,
    upgrade: handlers.upgrade,
    traffic,
    limits: {
      headerLimitBytes,
      connectionLimit,
      headersTimeoutMs,
      keepAliveTimeoutMs,
      requestTimeoutMs: headersTimeoutMs + uploadTimeoutMs,
    },
  })
}

/** Makes the origin rules. Adds to `allowedHosts` the host of `publicUrl`, and `host` unless it is a loopback name. */
function originRules({ host, publicUrl, allowedHosts, allowedOrigins }: Config, trustsLoopback: boolean): OriginRules {
  const bound = isLoopbackName(host) ? [] : [host]
  const known = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return { allowedHosts: [...allowedHosts, ...bound, ...known], allowedOrigins, trustsLoopback }
}

/** Returns a function that makes request ids from the start time and a counter, such as `mhx3k2a9-1f`. */
function createRequestIds(clock: Clock): () => string {
  const start = Math.floor(clock()).toString(36)
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}
