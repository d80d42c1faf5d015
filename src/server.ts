/**
 * An App behind HTTP and WebSocket.
 *
 * Gives the two handlers of `node:http` that a host may mount on its own server, and a listener for who has none. Which
 * limits and names apply is read from the configuration here and nowhere else.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { access } from './access.ts'
import type { Route } from './api/call.ts'
import { createRequestHandler } from './api/requests.ts'
import { createRoute, createRoutes } from './api/routes.ts'
import { createUpgradeHandler } from './api/upgrades.ts'
import type { App } from './app.ts'
import type { Log } from './base/log.ts'
import type { Clock } from './base/stamp.ts'
import type { Config } from './config.ts'
import { createSessionKeys } from './http/auth.ts'
import { isLoopbackName, type OriginRules } from './http/origin.ts'
import { RefusedKeys } from './http/refused-keys.ts'
import { createRouter } from './http/router.ts'
import { HttpServer } from './http/server.ts'
import type { LoadedParts } from './loaded-parts.ts'
import { version } from './version.ts'

/** What this server can do beyond its API level; clients look for names they know. */
const capabilities: readonly string[] = ['event_resume_v1', 'event_stream_v1', 'idempotency_keys_v1', 'pending_confirmations_v1']

/** Less than the usual time-out of proxies, 60 s. */
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
  /** Hides known secrets. */
  readonly mask: (text: string) => string
  /** Why no work is taken, or undefined. */
  readonly unreadyBecause: () => string | undefined
}

/** The handlers that a host may mount on a server of its own. */
export function createHandlers({ app, config, log, clock, mask, unreadyBecause }: HandlerOptions): Handlers {
  const keys = app.sessionKeys.length === 0 ? undefined : createSessionKeys(app.sessionKeys)
  const refusedKeys = new RefusedKeys(log, clock)
  const origins = originRules(config, keys !== undefined)
  let lastWorkAt = clock()
  const ofParts = partRoutes(app.parts)
  const ofCore = createRoutes({
    ...app,
    keys: { clock, fingerprint: app.fingerprint },
    stream: { heartbeatMs: streamHeartbeatMs, stallTimeoutMs: config.readerStallMs },
    meta: {
      productVersion: version,
      capabilities,
      usableTools: () => app.usableTools(),
      parts: app.parts.allowed.map(({ name }) => name),
      routes: [...Object.keys(access), ...ofParts.map(({ method, pattern }) => `${method} ${pattern}`)],
      clock,
      startedAt: clock(),
      idleMs: () => clock() - lastWorkAt,
      unreadyBecause: async () => unreadyBecause() ?? (await app.reserve.problem()) ?? app.sealProblem(),
    },
  })
  return {
    request: createRequestHandler({
      router: createRouter([...ofCore, ...ofParts]),
      origins,
      keys,
      refusedKeys,
      urlLimitBytes: config.urlLimitBytes,
      body: { limitBytes: config.bodyLimitBytes, timeoutMs: config.bodyTimeoutMs, valueLimit: config.jsonValueLimit },
      log,
      slowMs: config.slowRequestMs,
      mask,
      nextRequestId: createRequestIds(clock),
      onWork: () => (lastWorkAt = clock()),
    }),
    upgrade: createUpgradeHandler({
      service: app.service,
      origins,
      keys,
      refusedKeys,
      urlLimitBytes: config.urlLimitBytes,
      messageLimitBytes: config.messageLimitBytes,
      valueLimit: config.jsonValueLimit,
      authTimeoutMs: config.authTimeoutMs,
      limits: { maxMessageBytes: config.messageLimitBytes, stallTimeoutMs: config.readerStallMs },
      compresses: !config.noCompression,
      log,
    }),
  }
}

function partRoutes(parts: LoadedParts): Route[] {
  return parts.allowed.flatMap((part) =>
    Object.entries(part.routes ?? {}).map(([name, right]) => createRoute(name, right, parts.handler(part, name))))
}

/** A listener of our own, with our limits, for these handlers. */
export function createListener(handlers: Handlers, config: Config): HttpServer {
  const { headerLimitBytes, connectionLimit, headersTimeoutMs, keepAliveTimeoutMs, bodyTimeoutMs } = config
  return new HttpServer({
    handle: handlers.request,
    upgrade: handlers.upgrade,
    limits: {
      headerLimitBytes,
      connectionLimit,
      headersTimeoutMs,
      keepAliveTimeoutMs,
      requestTimeoutMs: headersTimeoutMs + bodyTimeoutMs,
    },
  })
}

/** The names that the server is bound to and that users' browsers know are names of its own. */
function originRules({ host, publicUrl, allowedHosts, allowedOrigins }: Config, trustsLoopback: boolean): OriginRules {
  const bound = isLoopbackName(host) ? [] : [host]
  const known = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return { allowedHosts: [...allowedHosts, ...bound, ...known], allowedOrigins, trustsLoopback }
}

/** Ids of requests: the start of the server and a count, short and unique in its log. */
function createRequestIds(clock: Clock): () => string {
  const start = Math.floor(clock()).toString(36)
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}
