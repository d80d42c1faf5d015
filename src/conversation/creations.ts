/**
 * Conversations that are made by requests, which may be sent again and carry an idempotency key.
 *
 * The key is in the first line of the conversation's log, so it is there if and only if the conversation is; from there it
 * is read again when the server starts. Who deletes the conversation takes back what the request has done, key included.
 * The answer to a retry is that to the first try: the state is folded up to where the request was done with, and no further.
 */
import type { JsonObject } from '../base/json.ts'
import type { ConversationLog } from '../storage/log.ts'
import { conversationInfo } from './info.ts'
import { foldLog } from './log-state.ts'
import { isSame, OpenRequests, requestLimits, type KeyedRequest } from './requests.ts'
import type { ConversationState } from './state.ts'
import type { Created } from './origins.ts'

/** A conversation and the keyed request that has made it. */
export interface Creation {
  readonly id: string
  readonly request: KeyedRequest
}

/** It is new for everyone who has asked for it to be made. */
export interface Made {
  readonly id: string
  readonly isNew: boolean
}

/** What a create request comes down to. */
export interface CreateRequest {
  readonly keyed: KeyedRequest | undefined
  /** The id that the client has chosen. */
  readonly id: string | undefined
  /** Settles what is left open; called only when a conversation is to be made. */
  readonly settle: () => Promise<Created>
}

/** What is needed of the service. */
export interface Conversations {
  has(id: string): boolean
  create(created: Created): Promise<{ readonly isNew: boolean }>
  read<T>(id: string, read: (log: ConversationLog) => T | Promise<T>): T | Promise<T>
}

export class Creations {
  readonly #conversations: Conversations
  /** By key, oldest first. */
  readonly #made = new Map<string, Creation>()
  readonly #open = new OpenRequests<Made>()

  constructor(conversations: Conversations) {
    this.#conversations = conversations
  }

  /** What there is when the server starts, in any order. */
  load(creations: readonly Creation[]): void {
    for (const creation of [...creations].sort((one, other) => one.request.at - other.request.at)) this.#note(creation)
  }

  /**
   * Gives the conversation that this request has made, if it is still there, or makes it.
   * @throws AppError `idempotency_mismatch`, and what `settle` and the making throw
   */
  once(request: CreateRequest): Promise<Made> {
    const { keyed } = request
    if (keyed === undefined) return this.#make(request)
    return this.#open.join(keyed, async () => {
      const known = this.#made.get(keyed.key)
      const isMade = known !== undefined && this.#conversations.has(known.id) && isSame(known.request, keyed)
      return isMade ? { id: known.id, isNew: true } : this.#make(request)
    })
  }

  /** ConversationInfo as it was when the request was done with, its message included if it had one. */
  async info(
    { id, request }: Creation,
    options: { readonly includeSkills: boolean; readonly hasMessage: boolean; readonly persistenceDir: string },
  ): Promise<JsonObject> {
    const isDone = (state: Readonly<ConversationState>): boolean => !options.hasMessage || isDoneIn(state, request.key)
    const state = await this.#conversations.read(id, (log) => foldLog(log, { until: isDone }))
    return conversationInfo(state, { ...options, subConversationIds: [] })
  }

  async #make({ keyed, id, settle }: CreateRequest): Promise<Made> {
    if (id !== undefined && this.#conversations.has(id)) return { id, isNew: false }
    const created = await settle()
    const { isNew } = await this.#conversations.create(keyed === undefined ? created : { ...created, request: keyed })
    if (isNew && keyed !== undefined) this.#note({ id: created.id, request: keyed })
    return { id: created.id, isNew }
  }

  #note(creation: Creation): void {
    const { key } = creation.request
    this.#made.delete(key)
    this.#made.set(key, creation)
    const [oldest] = this.#made.keys()
    if (this.#made.size > requestLimits.count && oldest !== undefined) this.#made.delete(oldest)
  }
}

/** Whether the request of this key is done with after the newest event. */
function isDoneIn({ requests, leaf_event_id: newest }: Readonly<ConversationState>, key: string): boolean {
  return requests.some((record) => record.key === key && record.goes_on !== true && (record.event === null || record.event === newest))
}
