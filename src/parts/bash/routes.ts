/** Serves commands of clients over REST (contract/others.md, section 1). */
import { bodyOf, idsInBody, ok, queryOf, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { dateTime, integer, oneOf, text, uuid, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { ExecuteBashRequest } from './generated.ts'
import type { Commands } from './commands.ts'
import type { History, StoredEvent } from './history.ts'

export interface BashParts {
  readonly history: History
  readonly commands: Commands
}

const search = {
  kind__eq: oneOf(['BashCommand', 'BashOutput']),
  command_id__eq: uuid(),
  timestamp__gte: dateTime(),
  timestamp__lt: dateTime(),
  order__gt: integer(),
  sort_order: withDefault(oneOf(['TIMESTAMP', 'TIMESTAMP_DESC']), 'TIMESTAMP'),
  page_id: text({ maxLength: 64 }),
  limit: withDefault(integer({ min: 1, max: 100 }), 100),
}

export function startCommand({ commands }: BashParts, call: Call): HttpResponse {
  return ok(commands.start(bodyOf(call, ExecuteBashRequest)).command)
}

export async function executeCommand({ commands }: BashParts, call: Call): Promise<HttpResponse> {
  return ok(await commands.start(bodyOf(call, ExecuteBashRequest)).ended)
}

export function searchEvents({ history }: BashParts, call: Call): HttpResponse {
  const query = queryOf(call, search)
  const commandId = query.command_id__eq?.replaceAll('-', '')
  const { kind__eq: kind, timestamp__gte: from = -Infinity, timestamp__lt: before = Infinity, order__gt, limit } = query
  const found = history.events.filter((event) => {
    if (kind !== undefined && event.kind !== kind) return false
    if (commandId !== undefined && event.commandId !== commandId) return false
    return event.micros >= from && event.micros < before
  })
  if (query.sort_order === 'TIMESTAMP_DESC') found.reverse()
  const first = Math.max(0, found.findIndex(({ id }) => id === query.page_id))
  const page = found.slice(first, first + limit).filter(({ kind: one, order }) => {
    return order__gt === undefined || one !== 'BashOutput' || order > order__gt
  })
  const next = JSON.stringify(found[first + limit]?.id ?? null)
  return jsonOf(`{"items":[${textsOf(page).join()}],"next_page_id":${next}}`)
}

export function getEvent({ history }: BashParts, call: Call): HttpResponse {
  const event = find(history, parameterOf(call.parameters, 'event_id'))
  if (event === undefined) throw new AppError('not_found', 'There is no such command or output')
  return { status: 200, body: event.json }
}

export function getEvents({ history }: BashParts, call: Call): HttpResponse {
  const texts = idsInBody(call).map((id) => find(history, id)?.json.toString() ?? 'null')
  return jsonOf(`[${texts.join()}]`)
}

export async function stopCommand({ commands }: BashParts, call: Call): Promise<HttpResponse> {
  return ok(await commands.stop(hexOf(parameterOf(call.parameters, 'command_id'))))
}

export async function clearEvents({ commands }: BashParts): Promise<HttpResponse> {
  return ok({ cleared_count: await commands.clear() })
}

function find(history: History, id: string): StoredEvent | undefined {
  return history.find(hexOf(id))
}

/** Returns an id in the form that the history uses: without dashes, in lower case. Clients may send other forms. */
function hexOf(id: string): string {
  return id.replaceAll('-', '').toLowerCase()
}

function textsOf(events: readonly StoredEvent[]): readonly string[] {
  return events.map(({ json }) => json.toString())
}

function jsonOf(json: string): HttpResponse {
  return { status: 200, body: Buffer.from(json) }
}
