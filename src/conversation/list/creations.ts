/**
 * Creates conversations for requests that may be repeated with an idempotency key.
 *
 * The key is stored in the first line of the conversation's log.
 */
import type { JsonObject } from '../../base/json.ts'
import type { EventReader } from '../log/event-reader.ts'
import { conversationInfo } from '../log/info.ts'
import { Changes } from './changes.ts'
import { OpenRequests } from '../log/once.ts'
import { isSame, requestLimits, type KeyedRequest, type RequestRecord } from '../log/requests.ts'
import type { ConversationState } from '../log/state.ts'
import type { Created } from '../log/origins.ts'

/** A conversation and the request with an idempotency key that created it. */
export interface Creation {
  readonly id: string
  readonly request: KeyedRequest
}

/** Result of a create request. `isNew` is also true for a retry with the key that created the conversation. */
export interface Made {
  readonly id: string
  readonly isNew: boolean
}

/** A create request. It creates nothing if its key or its id belongs to a conversation that exists. */
export interface CreateRequest {
  readonly keyed: KeyedRequest | undefined
  readonly id: string
  /** Returns the values of the new conversation. Not called when the conversation exists already. */
  readonly settle: () => Promise<Created>
}

/** The members of `ConversationService` that this file uses. */
export interface Conversations {
  has(id: string): boolean
  create(created: Created): Promise<{ readonly isNew: boolean }>
  read<T>(id: string, read: (events: EventReader) => T | Promise<T>): T | Promise<T>
}

export class Creations {
  readonly #conversations: Conversations
  /** The creation of each idempotency key, oldest first; at most `requestLimits.count`. */
  readonly #made = new Map<string, Creation>()
  readonly #open = new OpenRequests<Made>()
  readonly #changes = new Changes()

  constructor(conversations: Conversations) {
    this.#conversations = conversations
  }

  /** Adds the creations that exist when the server starts, in any order. */
  load(creations: readonly Creation[]): void {
    for (const creation of [...creations].sort((one, other) => one.request.at - other.request.at)) this.#note(creation)
  }

  /**
   * Returns the conversation that an earlier request with the same key created, or that has the request's `id`.
   * Otherwise creates a conversation.
   * @throws AppError `idempotency_mismatch`; the errors of `settle` and of the creation
   */
  once(request: CreateRequest): Promise<Made> {
    const { keyed } = request
    if (keyed === undefined) return this.#make(request)
    return this.#open.join(keyed, async () => {
      const known = this.#madeBy(keyed)
      return known === undefined ? this.#make(request) : { id: known.id, isNew: true }
    })
  }

  /**
   * True while a try of this request is under way, or if an earlier try made a conversation that still exists. False
   * for a key that has expired.
   * @throws AppError `idempotency_mismatch`
   */
  knows(request: KeyedRequest | undefined): boolean {
    return request !== undefined && (this.#open.has(request) || this.#madeBy(request) !== undefined)
  }

  /** Returns ConversationInfo as it was right after `request`, the create request, took effect. */
  async info(
    { id, request }: Creation,
    options: { readonly includeSkills: boolean; readonly hasMessage: boolean; readonly persistenceDir: string },
  ): Promise<JsonObject> {
    const isDone = (state: Readonly<ConversationState>): boolean => !options.hasMessage || isDoneIn(state, request.key)
    const state = await this.#conversations.read(id, (events) => events.stateWhen(isDone))
    return conversationInfo(state, { ...options, subConversationIds: [] })
  }

  /** Runs requests for an id one by one: a failed request marks all secrets of its id as removed (`vault.forget`). */
  async #make(request: CreateRequest): Promise<Made> {
    const { id } = request
    while (this.#changes.has(id)) await this.#changes.end(id)
    return this.#conversations.has(id) ? { id, isNew: false } : this.#changes.run(id, () => this.#create(request))
  }

  async #create({ keyed, settle }: CreateRequest): Promise<Made> {
    const created = await settle()
    const { isNew } = await this.#conversations.create(keyed === undefined ? created : { ...created, request: keyed })
    if (isNew && keyed !== undefined) this.#note({ id: created.id, request: keyed })
    return { id: created.id, isNew }
  }

  #madeBy(request: KeyedRequest): Creation | undefined {
    const known = this.#made.get(request.key)
    const isMade = known !== undefined && this.#conversations.has(known.id) && isSame(known.request, request)
    return isMade ? known : undefined
  }

  #note(creation: Creation): void {
    const { key } = creation.request
    this.#made.delete(key)
    this.#made.set(key, creation)
    const [oldest] = this.#made.keys()
    if (this.#made.size > requestLimits.count && oldest !== undefined) this.#made.delete(oldest)
  }
}

/** True when the request with this key is done, and its event, if any, is still the newest event of the branch. */
function isDoneIn({ requests, leaf_event_id: newest }: Readonly<ConversationState>, key: string): boolean {
  const isDone = ({ event, goes_on }: RequestRecord): boolean =>
    goes_on !== true && (event === null || event === newest)
  return requests.some((record) => record.key === key && isDone(record))
}
