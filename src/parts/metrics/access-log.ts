/**
 * The access log: a line in JSON for each response, and two for each WebSocket.
 *
 * A line names the pattern of the route. It has no path, no query and no body, and of the headers only the request id.
 * A client can choose this id, so known secrets are masked.
 */
import type { LogOutput } from '../../base/log-files.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import type { ObservedClose, ObservedRequest, ObservedResponse, TrafficObserver } from '../../http/traffic.ts'

export interface AccessLogOptions {
  readonly output: LogOutput
  readonly clock: Clock
  /** Replaces secrets in a finished line. */
  readonly mask: (line: string) => string
}

export class AccessLog implements TrafficObserver {
  readonly #options: AccessLogOptions

  constructor(options: AccessLogOptions) {
    this.#options = options
  }

  answered({ status, bytes, totalMs, isCut, ...request }: ObservedResponse): void {
    const cut = isCut ? { cut: true } : {}
    this.#write(request, { status, bytes, ms: milliseconds(totalMs), ...cut })
  }

  opened(request: ObservedRequest): void {
    this.#write(request, { status: 101, socket: 'open' })
  }

  closed(request: ObservedRequest, { code, bytes, totalMs }: ObservedClose): void {
    this.#write(request, { socket: 'closed', code, bytes, ms: milliseconds(totalMs) })
  }

  #write({ method, route, requestId, address, keyName }: ObservedRequest, outcome: object): void {
    const { output, clock, mask } = this.#options
    const time = formatMicros(Math.floor(clock() * 1000))
    const who = { request_id: requestId, address, key: keyName }
    const line = JSON.stringify({ time, method: method ?? null, route: route ?? null, ...outcome, ...who })
    output.write(`${mask(line)}\n`)
  }
}

/** Rounds milliseconds to three decimals. */
function milliseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
