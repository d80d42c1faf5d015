/**
 * The lines of the log about requests: each at `debug`, and one that took long at `info`.
 *
 * A line has the route's pattern and never the target: that may hold keys, and names of files in its query. The path stands
 * there only where no route was found. The time ends when the answer is handed over, or its stream begins.
 */
import type { Log } from '../base/log.ts'
import type { Answer, Exchange } from '../http/reply.ts'

export interface RequestLogOptions {
  readonly log: Log
  /** A request that takes at least this long is told at `info`. */
  readonly slowMs: number
}

const pathLimitChars = 200

export function tellRequest({ log, slowMs }: RequestLogOptions, exchange: Exchange, { status, body, stream }: Answer, ms: number): void {
  const { request: { method = '', url = '' }, requestId, route, ignored } = exchange
  const place = route === undefined ? { path: url.split('?', 1)[0]?.slice(0, pathLimitChars) } : { route }
  const bytes = stream === undefined ? (body?.length ?? 0) : undefined
  const fields = { request_id: requestId, method, ...place, status, bytes, ignored, ms: Math.round(ms) }
  log.debug('Request', fields)
  if (ms >= slowMs) log.info('A request was slow', fields)
}
