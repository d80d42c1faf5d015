/**
 * Counts responses and WebSockets.
 *
 * The values of labels come from fixed sets: the patterns of routes, and known methods, statuses and close codes. So
 * the number of series is limited, and a label shows no text of a client.
 */
import type { ObservedClose, ObservedRequest, ObservedResponse, TrafficObserver } from '../../http/traffic.ts'
import { counter, gauge, type Family, type Labels } from './exposition.ts'
import { Histogram } from './histogram.ts'

/** Upper bounds of the buckets for the time of a response, in seconds. */
const secondBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The close codes that have a series of their own; other codes share the series `other`. */
const knownCodes: ReadonlySet<number> = new Set([
  1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 4001, 4004, 4010,
])

/** A counter with one series for each set of labels. */
class LabelledCount {
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>()

  add(key: string, labels: () => Labels, value = 1): void {
    const known = this.#series.get(key)
    if (known === undefined) this.#series.set(key, { labels: labels(), value })
    else known.value += value
  }

  samples(): { readonly labels: Labels; readonly value: number }[] {
    return [...this.#series.values()].map(({ labels, value }) => ({ labels, value }))
  }
}

export class TrafficFigures implements TrafficObserver {
  readonly #responses = new LabelledCount()
  readonly #seconds = new Map<string, { readonly labels: Labels; readonly histogram: Histogram }>()
  readonly #bytes = new LabelledCount()
  #cut = 0
  readonly #open = new LabelledCount()
  readonly #opened = new LabelledCount()
  readonly #closed = new LabelledCount()

  answered({ status, bytes, answerMs, isCut, ...request }: ObservedResponse): void {
    const [method, route] = [methodOf(request), routeOf(request)]
    this.#responses.add(`${status} ${method} ${route}`, () => ({ method, route, status: String(status) }))
    this.#secondsOf(method, route).add(answerMs / 1000)
    this.#bytes.add('response', () => ({ kind: 'response' }), bytes)
    if (isCut) this.#cut++
  }

  opened(request: ObservedRequest): void {
    const route = routeOf(request)
    this.#open.add(route, () => ({ route }))
    this.#opened.add(route, () => ({ route }))
  }

  closed(request: ObservedRequest, { code, bytes }: ObservedClose): void {
    const route = routeOf(request)
    const word = knownCodes.has(code) ? String(code) : 'other'
    this.#open.add(route, () => ({ route }), -1)
    this.#closed.add(`${word} ${route}`, () => ({ route, code: word }))
    this.#bytes.add('websocket', () => ({ kind: 'websocket' }), bytes)
  }

  families(): Family[] {
    const seconds = [...this.#seconds.values()].flatMap(({ labels, histogram }) => histogram.samples(labels))
    return [
      counter('agent_server_requests_total', 'Responses by method, route and status.', this.#responses.samples()),
      {
        name: 'agent_server_request_duration_seconds',
        type: 'histogram',
        help: 'Time until the response was ready; for a stream, until it began.',
        samples: seconds,
      },
      counter('agent_server_responses_cut_total', 'Responses whose client closed the connection before their end.', [
        { value: this.#cut },
      ]),
      counter(
        'agent_server_sent_bytes_total', 'Bytes sent in ended responses and closed WebSockets, heads included.',
        this.#bytes.samples(),
      ),
      gauge('agent_server_websockets', 'Open WebSockets by route.', this.#open.samples()),
      counter('agent_server_websockets_opened_total', 'Opened WebSockets by route.', this.#opened.samples()),
      counter('agent_server_websockets_closed_total', 'Closed WebSockets by route and close code.',
        this.#closed.samples()),
    ]
  }

  #secondsOf(method: string, route: string): Histogram {
    const key = `${method} ${route}`
    const known = this.#seconds.get(key)
    if (known !== undefined) return known.histogram
    const histogram = new Histogram(secondBounds)
    this.#seconds.set(key, { labels: { method, route }, histogram })
    return histogram
  }
}

function methodOf({ method = 'none' }: Pick<ObservedRequest, 'method'>): string {
  return method === 'none' || knownMethods.has(method) ? method : 'other'
}

/** Returns the pattern of the route; `unmatched` without a route, `unreadable` for a request that was not read. */
function routeOf({ method, route }: Pick<ObservedRequest, 'method' | 'route'>): string {
  return route ?? (method === undefined ? 'unreadable' : 'unmatched')
}
