/**
 * The actions of a person on a conversation, one request each.
 *
 * A failed change calls `tell` with the reason, and returns false or undefined. A failed read returns undefined or an
 * empty list.
 */
import { problemOf, type Answer, type Api } from '../api.ts'
import { textAt } from '../values.ts'
import type { Choice } from './conversation-state.ts'
import { objectsAt } from './fields.ts'

export interface SentImage {
  readonly name: string
  /** The image as a data URL. */
  readonly url: string
}

export class ConversationActions {
  readonly #api: Api
  readonly #path: string
  readonly #tell: (problem: string) => void

  constructor(api: Api, id: string, tell: (problem: string) => void) {
    this.#api = api
    this.#path = `/api/conversations/${encodeURIComponent(id)}`
    this.#tell = tell
  }

  send(text: string, images: readonly SentImage[]): Promise<boolean> {
    const pictures = images.length === 0 ? [] : [{ type: 'image', image_urls: images.map(({ url }) => url) }]
    const words = text === '' ? [] : [{ type: 'text', text }]
    return this.#post('/events', { role: 'user', content: [...words, ...pictures], run: true })
  }

  run(): Promise<boolean> {
    return this.#post('/run', {})
  }

  pause(): Promise<boolean> {
    return this.#post('/pause', {})
  }

  stop(): Promise<boolean> {
    return this.#post('/interrupt', {})
  }

  answer(id: string | undefined, accept: boolean, reason: string): Promise<boolean> {
    const which = id === undefined ? {} : { id }
    return this.#post('/events/respond_to_confirmation', { accept, ...(reason === '' ? {} : { reason }), ...which })
  }

  setPolicy(kind: string): Promise<boolean> {
    return this.#post('/confirmation_policy', { policy: { kind } })
  }

  setModel(model: string): Promise<boolean> {
    return this.#post('/switch_acp_model', { model })
  }

  setMode(mode: string): Promise<boolean> {
    return this.#post('/switch_acp_mode', { mode })
  }

  useProfile(name: string): Promise<boolean> {
    return this.#post('/switch_profile', { profile_name: name })
  }

  /** Returns the LLM profiles, or an empty list when they cannot be read. `useProfile` takes the id of a profile. */
  async profiles(): Promise<readonly Choice[]> {
    const { json } = await this.#api.get('/api/profiles')
    return objectsAt(json, 'profiles').map((profile) => {
      const [id, model] = [textAt(profile, 'name'), textAt(profile, 'model')]
      return { id, name: model === '' || model === id ? id : `${id} (${model})` }
    }).filter(({ id }) => id !== '')
  }

  condense(): Promise<boolean> {
    return this.#post('/condense', {})
  }

  /** Goes back to an event: the next event follows it. With null, the next event begins the conversation anew. */
  goBackTo(eventId: string | null): Promise<boolean> {
    return this.#post('/navigate', { event_id: eventId })
  }

  /** Copies the conversation up to an event. Returns the id of the copy; undefined when the request fails. */
  async fork(eventId: string, title: string): Promise<string | undefined> {
    const named = title === '' ? {} : { title }
    const answer = await this.#api.post(`${this.#path}/fork`, { from_event_id: eventId, ...named })
    return this.#isGood(answer) ? textAt(answer.json, 'id') : undefined
  }

  /** Returns the response with the pending confirmations; undefined when they cannot be read. */
  async questions(): Promise<unknown> {
    const answer = await this.#api.get(`${this.#path}/confirmations`)
    return answer.status === 200 ? answer.json : undefined
  }

  /** Returns the ConversationInfo of the conversation; undefined when it cannot be read. */
  async info(): Promise<unknown> {
    const answer = await this.#api.get(this.#path)
    return answer.status === 200 ? answer.json : undefined
  }

  async #post(path: string, body: unknown): Promise<boolean> {
    return this.#isGood(await this.#api.post(this.#path + path, body))
  }

  #isGood(answer: Answer): boolean {
    if (answer.status >= 200 && answer.status < 300) return true
    this.#tell(problemOf(answer))
    return false
  }
}
