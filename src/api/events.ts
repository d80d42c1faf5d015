/**
 * The routes for events: read one, several, a page or a count, and send a message (contract/conversations.md, sections
 * 4 and 5).
 *
 * A response contains the stored bytes of events. Only a text search (`body`) parses events.
 */
import { AppError } from '../base/errors.ts'
import type { EventFilter } from '../conversation/log/event-reader.ts'
import { dateTime, integer, oneOf, text, withDefault } from '../http/query.ts'
import type { HttpResponse } from '../http/reply.ts'
import { parameterOf } from '../http/router.ts'
import { SendMessageRequest } from '../schema/generated/conversations.ts'
import { bodyOf, conversationIdOf, idsInBody, ok, queryOf, success, type Call } from './call.ts'
import type { ConversationParts } from './conversations.ts'
import { keyedRequestOf } from './idempotency.ts'
import { userMessageOf } from '../conversation/log/user-message.ts'

const filters = {
  kind: text({ maxLength: 256 }),
  source: text({ maxLength: 256 }),
  body: text({ maxLength: 1024 }),
  timestamp__gte: dateTime(),
  timestamp__lt: dateTime(),
}

const search = {
  ...filters,
  page_id: text({ maxLength: 64 }),
  limit: withDefault(integer({ min: 1, max: 100 }), 100),
  sort_order: withDefault(oneOf(['TIMESTAMP', 'TIMESTAMP_DESC']), 'TIMESTAMP'),
}

/** Returns the response with one event. It is a promise if the conversation is not open or the event not in memory. */
export function getEvent({ service }: ConversationParts, call: Call): HttpResponse | Promise<HttpResponse> {
  const id = parameterOf(call.parameters, 'event_id')
  const found = service.read(conversationIdOf(call), (events) => events.find(id))
  return found instanceof Promise ? found.then((json) => oneEvent(json, id)) : oneEvent(found, id)
}

function oneEvent(json: Buffer | undefined, id: string): HttpResponse {
  if (json === undefined) throw new AppError('not_found', `Event not found: ${id.slice(0, 64)}`)
  return { status: 200, body: json }
}

export async function getEvents({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const ids = idsInBody(call)
  const found = await service.read(conversationIdOf(call), (events) => Promise.all(ids.map((id) => events.find(id))))
  return { status: 200, body: Buffer.concat([open, ...joined(found.map((json) => json ?? nothing)), close]) }
}

export async function searchForEvents({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const query = queryOf(call, search)
  const { items, nextPageId } = await service.read(conversationIdOf(call), (events) => events.page({
    ...filterOf(query),
    newestFirst: query.sort_order === 'TIMESTAMP_DESC',
    limit: query.limit,
    pageId: query.page_id,
  }))
  return page(items, nextPageId)
}

export async function countMatchingEvents({ service }: ConversationParts, call: Call): Promise<HttpResponse> {
  const filter = filterOf(queryOf(call, filters))
  return ok(await service.read(conversationIdOf(call), (events) => events.count(filter)))
}

export async function sendMessage({ service, keys }: ConversationParts, call: Call): Promise<HttpResponse> {
  const body = bodyOf(call, SendMessageRequest)
  const request = keyedRequestOf(call, 'message', keys)
  const conversation = await service.open(conversationIdOf(call))
  await conversation.send(userMessageOf(body), body.run, request)
  return success
}

function filterOf(query: {
  readonly kind: string | undefined
  readonly source: string | undefined
  readonly body: string | undefined
  readonly timestamp__gte: number | undefined
  readonly timestamp__lt: number | undefined
}): EventFilter {
  const { kind, source, body, timestamp__gte: from, timestamp__lt: before } = query
  return { kind, source, body, from, before }
}

const open = Buffer.from('[')
const close = Buffer.from(']')
const comma = Buffer.from(',')
const nothing = Buffer.from('null')

function joined(items: readonly Buffer[]): Buffer[] {
  return items.flatMap((item, index) => (index === 0 ? [item] : [comma, item]))
}

function page(items: readonly Buffer[], nextPageId: string | null): HttpResponse {
  const tail = `],"next_page_id":${JSON.stringify(nextPageId)}}`
  return { status: 200, body: Buffer.concat([Buffer.from('{"items":['), ...joined(items), Buffer.from(tail)]) }
}
