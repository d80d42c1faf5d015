/**
 * Starts the part `docs`. The first request makes the page; later requests get the same bytes.
 *
 * The page has no script and no style. Its Content-Security-Policy blocks both.
 */
import { parseOwnJson } from '../../base/json.ts'
import type { HttpResponse } from '../../http/reply.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { pageOf } from './page.ts'
import type { docs } from './part.ts'

const headers = [
  'Content-Security-Policy', "default-src 'none'; base-uri 'none'; form-action 'none'",
  'Referrer-Policy', 'no-referrer',
]

export function start({ description }: Lent<typeof docs>): Started<typeof docs> {
  let body: Buffer | undefined
  const show = async (): Promise<HttpResponse> => {
    body ??= Buffer.from(pageOf(parseOwnJson((await description()).toString('utf8'))))
    return { status: 200, headers, type: 'text/html; charset=utf-8', body }
  }
  const handlers: Record<keyof typeof docs.routes, PartHandler> = { 'GET /docs': show, 'GET /redoc': show }
  return { handlers }
}
