/**
 * Clients that follow a conversation and go on behind the last event they have, also after their connection breaks.
 *
 * One over server-sent events, one over a WebSocket, each written as a client's author would from the documents: an
 * event counts once it has come as a whole, the next connection names the last whole event. They keep the text of the
 * events, so that it can be compared with the log byte for byte.
 */
import { request } from 'node:http'
import { sleep } from '../../src/base/wait.ts'
import { connect, Refused, type Client } from '../support/ws-client.ts'
import { isPushed, type JsonEvent } from './talk.ts'

export interface Follower {
  /** The JSON of every stored event that came, in the order in which it came. */
  readonly received: readonly string[]
  /** The id of the last one. */
  readonly last: string | undefined
  /** Connections that were tried. */
  readonly connections: number
  /** The extensions that the handshake has agreed upon. */
  readonly extension: string
  /** Resolves once the signal was aborted; rejects when the server ends a connection by itself. */
  readonly done: Promise<void>
}

export interface FollowOptions {
  readonly url: string
  readonly key: string
  readonly conversationId: string
  readonly signal: AbortSignal
  /** Statuses and close codes after which a client connects again. Default: a connection that is cut (1006). */
  readonly passing?: readonly number[]
}

/** Follows one connection behind an event until it is cut; gives the extension that was agreed upon. */
type FollowOnce = (after: string | undefined, take: (json: string) => void) => Promise<string>

/** Over `GET .../events/stream`. */
export function followStream({ url, key, conversationId, signal }: FollowOptions): Follower {
  const path = `${url}/api/conversations/${conversationId}/events/stream?resend_mode=all`
  return follow(signal, (after, take) => new Promise((resolve, reject) => {
    const headers = { 'X-Session-API-Key': key, ...(after === undefined ? {} : { 'Last-Event-ID': after }) }
    const call = request(path, { headers, agent: false, signal })
    const end = (): void => resolve('')
    call.on('error', end)
    call.on('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`The stream was refused with ${response.statusCode}`))
      const read = blockReader((block) => {
        const [, json] = /^data: (.*)$/m.exec(block) ?? []
        if (json !== undefined && /^id: /m.test(block)) take(json)
      })
      response.on('error', end).on('close', end).on('data', read)
    })
    call.end()
  }))
}

/** Over `/sockets/events/{id}`; `extensions` are offered in the handshake. */
export function followSocket(
  options: FollowOptions, extensions: string | undefined,
): Follower {
  const { key, conversationId, signal, passing = [1006] } = options
  const headers = {
    'X-Session-API-Key': key, ...(extensions === undefined ? {} : { 'Sec-WebSocket-Extensions': extensions }),
  }
  return follow(signal, async (after, take) => {
    const query = after === undefined ? 'resend_mode=all' : `after=${after}`
    const client = await open(`${options.url}/sockets/events/${conversationId}?${query}`, headers, passing)
    if (client === undefined) {
      await sleep(20)
      return ''
    }
    const end = (): void => client.destroy()
    signal.addEventListener('abort', end)
    let taken = 0
    await client.until(() => {
      for (const text of client.messages.slice(taken)) if (!isPushed(parsed(text), conversationId)) take(text)
      taken = client.messages.length
      return false
    }).catch(() => undefined)
    signal.removeEventListener('abort', end)
    const { code } = await client.closed
    if (!passing.includes(code)) throw new Error(`The socket was closed with ${code}`)
    return String(client.headers['sec-websocket-extensions'] ?? '')
  })
}

function follow(signal: AbortSignal, once: FollowOnce): Follower {
  const received: string[] = []
  const progress: { connections: number; extension: string; last?: string } = { connections: 0, extension: '' }
  const take = (json: string): void => {
    received.push(json)
    progress.last = idIn(json)
  }
  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      progress.connections++
      const extension = await once(progress.last, take)
      if (extension !== '') progress.extension = extension
    }
  }
  return {
    received,
    get last() {
      return progress.last
    },
    get connections() {
      return progress.connections
    },
    get extension() {
      return progress.extension
    },
    done: work(),
  }
}

/** The id of an event in its canonical form. */
export function idIn(json: string): string {
  const [, id] = /"id":"([^"]*)"/.exec(json) ?? []
  if (id === undefined) throw new Error(`Expected an event with an id, got ${json.slice(0, 100)}`)
  return id
}

/** Only a connection that is cut may fail, or one with a passing status. */
async function open(
  url: string, headers: Readonly<Record<string, string>>, passing: readonly number[],
): Promise<Client | undefined> {
  try {
    return await connect(url, headers)
  } catch (thrown) {
    if (thrown instanceof Refused && !passing.includes(thrown.status)) throw thrown
    return undefined
  }
}

/** Splits a stream of server-sent events at its empty lines. A part without an end is kept as bytes. */
function blockReader(onBlock: (block: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      onBlock(rest.subarray(0, end).toString('utf8'))
      rest = rest.subarray(end + 2)
    }
  }
}

function parsed(json: string): JsonEvent {
  return JSON.parse(json)
}
