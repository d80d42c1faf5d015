/**
 * Logs requests: each at `debug`, and a slow request also at `info`.
 *
 * A line has the pattern of the route, because the request target may contain keys and file names. Without a route the
 * line has the path, without the query.
 */
import type { Log } from '../base/log.ts'
import type { HttpResponse, Exchange } from '../http/reply.ts'

export interface RequestLogOptions {
  readonly log: Log
  /** True when the log has the lines of level `debug`. */
  readonly logsEach: boolean
  /** A request that takes at least this long is logged at `info`. */
  readonly slowMs: number
}

const pathLimitChars = 200

export function tellRequest(
  { log, logsEach, slowMs }: RequestLogOptions,
  exchange: Exchange,
  { status, body, stream }: HttpResponse,
  ms: number,
): void {
  if (!logsEach && ms < slowMs) return
  const { request: { method = '', url = '' }, requestId, route, ignored } = exchange
  const place = route === undefined ? { path: url.split('?', 1)[0]?.slice(0, pathLimitChars) } : { route }
  const bytes = stream === undefined ? (body?.length ?? 0) : undefined
  const fields = { request_id: requestId, method, ...place, status, bytes, ignored, ms: Math.round(ms) }
  log.debug('Request', fields)
  if (ms >= slowMs) log.info('A request was slow', fields)
}
