/**
 * Clients that talk on while their server is restarted, moved or killed, and afterwards compare all that came with the
 * log.
 *
 * Each client has a conversation of its own. It sends its messages over REST, one after the other, and repeats one that
 * was not accepted under the same Idempotency-Key. It follows over a WebSocket and resumes after the last event.
 */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import * as assert from 'uvu/assert'
import { sleep } from '../../src/base/wait.ts'
import { until } from '../support/processes.ts'
import { rest, restBy, textAt, type RestResponse } from '../support/rest.ts'
import { followSocket, idIn, type Follower } from './followers.ts'
import { differencesOf } from './resume.ts'
import { messagesOf, talkTo, userMessage } from './talk.ts'

export interface SteadyOptions {
  readonly clients: number
  readonly messages: number
  readonly key: string
  /** Returns where the server is now. */
  readonly url: () => string
  readonly agent: object
  /** How many of the clients let the agent run; the others only store their messages. Default: all. */
  readonly running?: number
}

/** Statuses and close codes after which a client tries again: a restart, and a proxy without a server behind it. */
const passing = [502, 503, 504, 1006, 1011, 1012, 1013]

export class SteadyClients {
  /** The conversations of the clients. */
  readonly ids: string[] = []
  /** Requests that were repeated. */
  repeated = 0
  readonly #options: SteadyOptions
  readonly #ended = new AbortController()
  readonly #done: Promise<void>
  readonly #followers: Follower[] = []
  /** Part of the keys of creations, so that two groups of clients differ. */
  readonly #name = randomUUID()
  #accepted = 0

  constructor(options: SteadyOptions) {
    this.#options = options
    setMaxListeners(0, this.#ended.signal)
    this.#done = Promise.all(Array.from({ length: options.clients }, (_, index) => this.#talk(index))).then(nothing)
    this.#done.catch(nothing)
  }

  /** The number of messages that were accepted so far. */
  get accepted(): number {
    return this.#accepted
  }

  /** Connections that the followers have opened. */
  get connections(): number {
    return this.#followers.reduce((sum, { connections }) => sum + connections, 0)
  }

  /** Waits until so many messages were accepted in all. */
  async reach(accepted: number): Promise<void> {
    await Promise.race([until(() => this.#accepted >= accepted), this.#done])
  }

  /** Waits for all clients. Rejects when one of them misses something, or has it twice or in another order. */
  finish(): Promise<void> {
    return this.#done
  }

  /** Ends all clients. */
  async close(): Promise<void> {
    this.#ended.abort()
    await Promise.allSettled([this.#done, ...this.#followers.map(({ done }) => done)])
  }

  async #talk(index: number): Promise<void> {
    const { key, agent, messages, url, running = Infinity } = this.#options
    const signal = this.#ended.signal
    const created = await this.#insist(`create-${this.#name}-${index}`, '/api/conversations', { agent })
    const id = textAt(created.json, 'id')
    this.ids.push(id)
    const follower = followSocket({ get url() { return url() }, key, conversationId: id, signal, passing }, undefined)
    this.#followers.push(follower)
    const sent = Array.from({ length: messages }, (_, number) => `client ${index} message ${number}`)
    for (const text of sent) {
      const name = `${id}-${text.replaceAll(' ', '-')}`
      await this.#insist(name, `/api/conversations/${id}/events`, userMessage(text, index < running))
      this.#accepted++
    }
    await Promise.race([follower.done, this.#compare(id, sent, follower)])
  }

  async #compare(id: string, sent: readonly string[], follower: Follower): Promise<void> {
    const { key, url } = this.#options
    const talk = talkTo({ rest: restBy((...request) => rest(url(), key).send(...request)) }, id)
    let log: string[] = []
    // The server may be restarted meanwhile.
    await until(async () => {
      if ((await talk.status().catch(() => 'running')) === 'running') return false
      log = (await talk.events().catch(() => [])).map((event) => JSON.stringify(event))
      return log.length > 0 && follower.last === idIn(log.at(-1) ?? '')
    })
    const said = messagesOf(log.map((json) => JSON.parse(json)), 'user')
    assert.equal(differencesOf(follower.received, log), { missing: 0, doubled: 0, outOfOrder: 0 }, id)
    assert.equal(said, sent, id)
  }

  /** Repeats a request until it is accepted. */
  async #insist(idempotencyKey: string, path: string, body: object): Promise<RestResponse> {
    for (;;) {
      this.#ended.signal.throwIfAborted()
      const { send } = rest(this.#options.url(), this.#options.key)
      const call = { headers: { 'Idempotency-Key': idempotencyKey }, body }
      const answer = await send('POST', path, call).catch(() => undefined)
      if (answer !== undefined && answer.status < 300) return answer
      if (answer !== undefined && !passing.includes(answer.status)) throw new Error(`${answer.status} ${answer.text}`)
      this.repeated++
      await sleep(20)
    }
  }
}

function nothing(): void {}
