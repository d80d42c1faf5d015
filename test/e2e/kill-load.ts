/**
 * Clients of a server that is about to be killed: each works on conversations of its own, and each notes the changes
 * that were acknowledged and the changes that were requested and not answered.
 *
 * An answer makes a change certain. A change without an answer may be there or not, but not in part: `Change` holds the
 * two values that are allowed then. A value that a client has read once must never be taken back either.
 */
import { randomUUID } from 'node:crypto'
import { below } from '../storage/samples.ts'
import { isObject } from '../../src/base/json.ts'
import type { RestResponse } from '../support/rest.ts'
import { fakeAgent, type Reachable } from '../support/server.ts'
import { talkTo, userMessage } from './talk.ts'

/** A value that one client changes: the newest acknowledged value, and the values that are on their way. */
export class Change<T> {
  #sure: T
  #perhaps: readonly T[] = []

  constructor(value: T) {
    this.#sure = value
  }

  get value(): T {
    return this.#sure
  }

  /** The values that may be found after a crash. */
  get allowed(): readonly T[] {
    return [this.#sure, ...this.#perhaps]
  }

  /** Asks for a new value; nothing is thrown away when no answer comes. */
  async to(next: T, ask: () => Promise<void>): Promise<void> {
    this.#perhaps = [next]
    await ask()
    this.found(next)
  }

  /** Sets the value that was found. */
  found(value: T): void {
    this.#sure = value
    this.#perhaps = []
  }
}

/** A conversation as the only client that writes to it knows it. */
export interface Known {
  readonly id: string
  readonly exists: Change<boolean>
  /** Texts of the user's messages, in order. */
  readonly messages: Change<readonly string[]>
  readonly title: Change<unknown>
  /** Events that were read, as they were. */
  seen: readonly unknown[]
}

export interface Ledger {
  readonly conversations: Known[]
  readonly maxIterations: Change<unknown>
  readonly secrets: ReadonlyMap<string, Change<string | undefined>>
  /** Answers so far. */
  acknowledged: number
}

export function newLedger(): Ledger {
  const names = ['FIRST_KEY', 'SECOND_KEY', 'THIRD_KEY']
  const secrets = new Map(names.map((name) => [name, new Change<string | undefined>(undefined)]))
  return { conversations: [], maxIterations: new Change<unknown>(undefined), secrets, acknowledged: 0 }
}

export interface Load {
  readonly server: Reachable
  readonly ledger: Ledger
  readonly random: () => number
  /** Told after every answer. */
  readonly onAnswer: () => void
}

const clientCount = 4
/** A client with so many conversations deletes one before it makes another. */
const conversationLimit = 4
const agents = [
  fakeAgent('echo'),
  { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] },
  { kind: 'Agent', llm: { model: 'demo/scripted' }, tools: [{ name: 'terminal' }] },
]

/** All clients at once, until the server is gone. Rejects when it answers with anything but success. */
export async function workUntilKilled(load: Load): Promise<void> {
  const { conversations } = load.ledger
  // All are dealt out before the first of them makes more.
  const shares = Array.from({ length: clientCount }, (_, client) => {
    return conversations.filter((_known, place) => place % clientCount === client)
  })
  await Promise.all([...shares.map((own) => untilGone(() => talk(load, own))), untilGone(() => configure(load))])
}

class Unexpected extends Error {}

async function untilGone(step: () => Promise<void>): Promise<void> {
  try {
    for (;;) await step()
  } catch (thrown) {
    if (thrown instanceof Unexpected) throw thrown
  }
}

/** One step of a client, by chance. */
async function talk(load: Load, own: Known[]): Promise<void> {
  const { random, ledger } = load
  const known = own[below(random, own.length)]
  const what = below(random, 10)
  if (known === undefined || (what === 0 && own.length < conversationLimit)) return create(load, own)
  if (what === 0 || what === 1) {
    return own.length < conversationLimit ? fork(load, own, known) : remove(load, own, known)
  }
  if (what === 2) {
    return known.title.to(`Title ${ledger.acknowledged}`, () => {
      return done(load, 'PATCH', known.id, '', { title: `Title ${ledger.acknowledged}` })
    })
  }
  if (what === 3) return read(load, known)
  const text = `message ${randomUUID()}`
  await known.messages.to([...known.messages.value, text], () => {
    return done(load, 'POST', known.id, '/events', userMessage(text, what === 4))
  })
}

async function create(load: Load, own: Known[]): Promise<void> {
  const known = newKnown([])
  const agent = agents[below(load.random, agents.length)]
  load.ledger.conversations.push(known)
  await known.exists.to(true, () => done(load, 'POST', '', '', { conversation_id: known.id, agent }))
  own.push(known)
}

async function fork(load: Load, own: Known[], source: Known): Promise<void> {
  const known = newKnown(source.messages.value)
  load.ledger.conversations.push(known)
  await known.exists.to(true, () => done(load, 'POST', source.id, '/fork', { id: known.id }))
  own.push(known)
}

async function remove(load: Load, own: Known[], known: Known): Promise<void> {
  await known.exists.to(false, () => done(load, 'DELETE', known.id, ''))
  own.splice(own.indexOf(known), 1)
}

async function read(load: Load, known: Known): Promise<void> {
  known.seen = await talkTo(load.server, known.id).events()
}

async function configure(load: Load): Promise<void> {
  const { random, ledger, server } = load
  const [name = '', secret] = [...ledger.secrets][below(random, ledger.secrets.size)] ?? []
  const number = 1 + below(random, 400)
  const value = `value ${randomUUID()}`
  const settings = (): Promise<RestResponse> => {
    return server.rest.patch('/api/settings', { conversation_settings_diff: { max_iterations: number } })
  }
  if (secret === undefined || below(random, 2) === 0) {
    return ledger.maxIterations.to(number, () => answered(load, settings(), 'the settings'))
  }
  if (secret.value !== undefined && below(random, 3) === 0) {
    return secret.to(undefined, () => answered(load, server.rest.delete(`/api/settings/secrets/${name}`), 'a secret'))
  }
  await secret.to(value, () => answered(load, server.rest.put('/api/settings/secrets', { name, value }), 'a secret'))
}

function newKnown(messages: readonly string[]): Known {
  return {
    id: randomUUID(), exists: new Change(false), messages: new Change(messages), title: new Change<unknown>(undefined),
    seen: [],
  }
}

function done(load: Load, method: string, id: string, tail: string, body?: unknown): Promise<void> {
  const path = id === '' ? '/api/conversations' : `/api/conversations/${id}${tail}`
  return answered(load, load.server.rest.send(method, path, body === undefined ? {} : { body }), `${method} ${path}`)
}

async function answered(load: Load, asking: Promise<RestResponse>, what: string): Promise<void> {
  const { status, text, json } = await asking
  if (status >= 300 || !(isObject(json) || Array.isArray(json))) {
    throw new Unexpected(`Expected ${what} to succeed, got ${status} ${text}`)
  }
  load.ledger.acknowledged++
  load.onAnswer()
}
