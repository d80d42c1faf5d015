/**
 * The steps that attacks are made of: conversations with an agent that attacks or a model that does, and their outcome
 * in a few words.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { member, textAt, type RestResponse } from '../../test/support/rest.ts'
import { startAttackingModel, type Attack } from './model.ts'
import type { StalledServer } from './server.ts'

export interface NamedAttack {
  readonly name: string
  /** In bytes or pieces, to be read. */
  readonly size: string
  /** Words of the server's command line. */
  readonly args?: readonly string[]
  /** Prepares the attack. The cost of this is not counted. */
  readonly prepare?: (server: StalledServer) => Promise<void>
  readonly run: (server: StalledServer) => Promise<string>
}

export const MB = 1_000_000
export const MiB = 1024 * 1024
export const longestMs = 60_000

export function acp(attack: string, count: number): object {
  return { kind: 'ACPAgent', acp_command: [process.execPath, besideThis('agent.js'), attack, String(count)] }
}

export function builtIn(model: string, url: string, more: object = {}): object {
  const base_url = model.startsWith('openai/') ? `${url}/v1` : url
  return { kind: 'Agent', llm: { model, base_url, api_key: 'a-key-of-a-model', num_retries: 0, ...more }, tools: [] }
}

export async function withModel(
  attack: () => Attack, body: (url: string) => Promise<string>, times = 1,
): Promise<string> {
  const model = await startAttackingModel(attack, times)
  return body(model.url).finally(() => model.close())
}

/** Sends a message, waits until the run has ended and tells how. */
export async function runToEnd(server: StalledServer, agent: object, more: object = {}): Promise<string> {
  const id = await makeConversation(server, agent, more)
  // A client that follows costs too.
  const client = await server.socket(id)
  await server.rest.post(`/api/conversations/${id}/events`, { content: 'Go', run: true })
  const still = await waitForEnd(server, id)
  if (still !== undefined) return still
  await client.close().catch(() => undefined)
  const { json } = await server.rest.get(`/api/conversations/${id}/events/search?sort_order=TIMESTAMP_DESC&limit=10`)
  const found = Array.isArray(member(json, 'items')) ? Object.values(Object(member(json, 'items'))) : []
  const error = found.find((event) => member(event, 'kind') === 'ConversationErrorEvent')
  if (error !== undefined) return shown(textAt(error, 'detail'))
  const kinds = found.map((event) => String(member(event, 'kind')))
  const refused = found.find((event) => member(event, 'kind') === 'AgentErrorEvent')
  if (refused !== undefined) return shown(`finished, ${textAt(refused, 'error')}`)
  return kinds.includes('ObservationEvent') ? 'finished, a tool ran' : 'finished'
}

/** Words for a run that does not end. */
export async function waitForEnd({ rest }: StalledServer, id: string): Promise<string | undefined> {
  const until = performance.now() + longestMs
  for (;;) {
    const { json } = await rest.get(`/api/conversations/${id}`)
    const status = textAt(json, 'execution_status')
    if (status !== 'running' && status !== 'idle') return undefined
    if (performance.now() > until) return `still ${status}`
    await sleep(50)
  }
}

export async function makeConversation({ rest }: StalledServer, agent: object, more: object = {}): Promise<string> {
  return textAt((await rest.post('/api/conversations', { autotitle: false, agent, ...more })).json, 'id')
}

export function outcome({ status, json }: RestResponse): string {
  const detail = member(json, 'detail')
  const words = typeof detail === 'string'
    ? detail
    : String(member(detail, 0, 'ctx', 'error') ?? member(detail, 0, 'msg') ?? '')
  return shown(words === '' ? String(status) : `${status} ${words}`)
}

export function shown(words: string): string {
  return words.length <= 70 ? words : `${words.slice(0, 67)}...`
}

export function items<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

export function members(count: number, make: (index: number) => unknown): object {
  return Object.fromEntries(items(count, (index) => [`k${index}`, make(index)]))
}

export function list(count: number, make: (index: number) => string): string {
  return items(count, make).join(',')
}

export function besideThis(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
