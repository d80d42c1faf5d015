/**
 * A conversation as a client sees it, for the tests of this folder: made, sent to, waited for, read back.
 *
 * `outline` tells a history in one short word for each event, so that a test can name a whole sequence.
 */
import { isObject } from '../../src/base/json.ts'
import { until } from '../support/processes.ts'
import { listAt, member, textAt, type RestResponse } from '../support/rest.ts'
import { fakeAgent, type Reachable } from '../support/server.ts'
import type { Client } from '../support/ws-client.ts'

export type JsonEvent = Record<string, unknown>

export interface Talk {
  readonly id: string
  /** `/api/conversations/{id}` */
  readonly path: string
  get(tail?: string): Promise<RestResponse>
  post(tail: string, body?: unknown): Promise<RestResponse>
  /** Sends a message, which is run unless told otherwise. */
  send(text: string, run?: boolean): Promise<RestResponse>
  /** Starts a run of a conversation whose last one has ended. */
  runAgain(): Promise<void>
  /** The status as REST tells it. */
  status(): Promise<string>
  /** Waits for a status. */
  reaches(status: string): Promise<void>
  /** All stored events. */
  events(): Promise<JsonEvent[]>
}

/** Starts a conversation. A text names a behaviour of the fake agent, an object is a whole request. */
export async function startTalk(server: Pick<Reachable, 'rest'>, request: string | object = {}): Promise<Talk> {
  const body = typeof request === 'string' ? { agent: fakeAgent(request) } : request
  const answer = await server.rest.post('/api/conversations', body)
  if (answer.status !== 201) throw new Error(`Expected a new conversation, got ${answer.status} ${answer.text}`)
  return talkTo(server, textAt(answer.json, 'id'))
}

export function talkTo({ rest }: Pick<Reachable, 'rest'>, id: string): Talk {
  const path = `/api/conversations/${id}`
  const status = async (): Promise<string> => textAt((await rest.get(path)).json, 'execution_status')
  return {
    id,
    path,
    get: (tail = '') => rest.get(path + tail),
    post: (tail, body) => rest.post(path + tail, body),
    send: (text, run = true) => rest.post(`${path}/events`, userMessage(text, run)),
    async runAgain() {
      const { status, text } = await rest.post(`${path}/run`)
      if (status !== 200) throw new Error(`Expected a run, got ${status} ${text}`)
    },
    status,
    reaches: (wanted) => until(async () => (await status()) === wanted),
    events: () => allEvents(rest.get, path),
  }
}

export function userMessage(text: string, run?: boolean): object {
  return { role: 'user', content: [{ type: 'text', text }], ...(run === undefined ? {} : { run }) }
}

/** Every event as one word: its kind, for a state update its key and value, for an error its code. */
export function outline(events: readonly JsonEvent[]): string[] {
  return events.map((event) => {
    const { kind, source, key, value, code } = event
    switch (kind) {
      case 'ConversationStateUpdateEvent':
        return key === 'execution_status' ? String(value) : `(${String(key)})`
      case 'MessageEvent':
        return `${String(source)} message`
      case 'ActionEvent':
        return textAt(event, 'action', 'kind')
      case 'ObservationEvent':
        return textAt(event, 'observation', 'kind')
      case 'ConversationErrorEvent':
        return `error ${String(code)}`
      default:
        return String(kind)
    }
  })
}

/** The statuses that a history went through. */
export function statusesOf(events: readonly JsonEvent[]): unknown[] {
  return events.filter(({ key }) => key === 'execution_status').map(({ value }) => value)
}

/** The text of every message of one source. */
export function messagesOf(events: readonly JsonEvent[], source: string): string[] {
  const messages = events.filter((event) => event['kind'] === 'MessageEvent' && event['source'] === source)
  return messages.map((event) => listAt(event, 'llm_message', 'content').map((item) => member(item, 'text')).join(''))
}

/** The messages of each client, parsed as far as they were asked for. */
const parsed = new WeakMap<Client, unknown[]>()

/** Returns the frames that a socket has got so far. A test may ask after each frame, so a message is parsed once. */
export function framesOf(client: Client): JsonEvent[] {
  const values = parsed.get(client) ?? []
  parsed.set(client, values)
  for (const text of client.messages.slice(values.length)) values.push(JSON.parse(text))
  return values.filter(isObject)
}

/** As `framesOf`, without the frames that exist on sockets only. */
export function storedOf(client: Client): JsonEvent[] {
  const [first, ...frames] = framesOf(client)
  if (first === undefined) return []
  const conversationId = textAt(first, 'value', 'id')
  return frames.filter((event) => !isPushed(event, conversationId))
}

/** Frames that are never stored: their ids end as that of the conversation. */
export function isPushed(event: JsonEvent, conversationId: string): boolean {
  return textAt(event, 'id').slice(19) === conversationId.slice(19)
}

async function allEvents(get: (path: string) => Promise<RestResponse>, path: string): Promise<JsonEvent[]> {
  const events: JsonEvent[] = []
  for (let page = ''; ; ) {
    const { json } = await get(`${path}/events/search?limit=100${page}`)
    events.push(...listAt(json, 'items').filter(isObject))
    const next = member(json, 'next_page_id')
    if (typeof next !== 'string') return events
    page = `&page_id=${next}`
  }
}
