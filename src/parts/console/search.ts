/**
 * `GET /api/console/conversations/{conversation_id}/search`: finds a text in a history, ignoring case.
 *
 * A request examines events from the newest event back to the first, until it reaches a limit of events, bytes or hits.
 * With `before`, it begins at the event before this position. `next` of the response is the value of `before` for the
 * next request; null when no event is left. Members whose names match `unread` are not searched.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { conversationIdOf, ok, queryOf, type Call } from '../../api/call.ts'
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import type { EventReader } from '../../conversation/log/event-reader.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { integer, text } from '../../http/query.ts'

const eventLimit = 5000
const byteLimit = 8 * 1024 * 1024
const hitLimit = 50
const batch = 64
/** The most characters of an excerpt before the found text, and from the first character of the found text on. */
const [charsBefore, charsAfter] = [40, 160]

/** The names of members, at any depth of an event, that are not searched: they seldom hold words for people. */
const unread = /^(?:id|kind|timestamp|source|role|type|image_urls|screenshot_data|.*_id)$/

const query = {
  text: text({ maxLength: 1024 }),
  /** The position before which the search continues: `next` of the previous response. */
  before: integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
}

const missing = new AppError('invalid_input', 'The text to search for is missing', {
  issues: [{ type: 'missing', loc: ['query', 'text'], msg: 'Field required' }],
})

interface Hit {
  readonly id: string
  readonly kind: string
  readonly source: string
  readonly timestamp: string
  /** The tool of a call or a result; empty for any other event. */
  readonly tool: string
  /** The text around the first match: up to `charsBefore` characters before it, and `charsAfter` from its start on. */
  readonly excerpt: string
}

export async function searchHistory({ read }: Pick<StoredConversations, 'read'>, call: Call): Promise<HttpResponse> {
  const { text: wanted = '', before } = queryOf(call, query)
  return read(conversationIdOf(call), async (events) => {
    if (wanted.trim() === '') throw missing
    return ok(await search(events, wanted.trim().toLowerCase(), before))
  })
}

async function search(events: EventReader, needle: string, before = Infinity): Promise<object> {
  const total = events.eventCount
  const start = Math.min(before, total)
  const items: Hit[] = []
  let seq = start
  for (let bytes = 0; seq > 0 && start - seq < eventLimit && bytes < byteLimit && items.length < hitLimit; seq--) {
    if ((start - seq) % batch === 0) await nextTurn()
    const json = await events.read(seq - 1)
    if (json === undefined) continue
    bytes += json.length
    const event = await parseOwnJsonBytes(json)
    const excerpt = excerptOf(event, needle)
    if (excerpt !== undefined) items.push(hitOf(event, excerpt))
  }
  return { items, total, next: seq === 0 ? null : seq }
}

function hitOf(event: unknown, excerpt: string): Hit {
  const textAt = (name: string): string => {
    const value = isObject(event) ? event[name] : undefined
    return typeof value === 'string' ? value : ''
  }
  return {
    id: textAt('id'), kind: textAt('kind'), source: textAt('source'), timestamp: textAt('timestamp'),
    tool: textAt('tool_name'), excerpt,
  }
}

/** Returns an excerpt around the first `needle` in the texts of a value; undefined when there is none. */
function excerptOf(value: unknown, needle: string): string | undefined {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') {
      const at = next.toLowerCase().indexOf(needle)
      if (at >= 0) return cut(next, at)
    } else if (Array.isArray(next)) {
      for (let index = next.length - 1; index >= 0; index--) open.push(next[index])
    } else if (isObject(next)) {
      for (const [name, member] of Object.entries(next).reverse()) if (!unread.test(name)) open.push(member)
    }
  }
  return undefined
}

function cut(whole: string, at: number): string {
  const start = Math.max(0, at - charsBefore)
  const end = at + charsAfter
  return `${start > 0 ? '… ' : ''}${whole.slice(start, end)}${end < whole.length ? ' …' : ''}`
}
