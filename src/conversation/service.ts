/**
 * All conversations of a server: at most one open object per id, opened when it is first needed.
 *
 * Everything that may happen to one id at the same time (created twice, opened by many, evicted, deleted) is put in
 * order here, so that the conversation itself never meets a second one on its folder. Conversations that nobody uses
 * are closed after a while and open again unseen. `close()` ends them all.
 */
import { AppError, errorOf } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { formatMicros } from '../base/stamp.ts'
import { ClosedStates } from './closed-states.ts'
import type { Conversation } from './conversation.ts'
import { Creations, type Creation } from './creations.ts'
import { planFork, type ForkRequest } from './fork.ts'
import { conversationInfo } from './info.ts'
import { entryOf, Listing, type ListQuery } from './listing.ts'
import { writeCreated, writeForked } from './first-lines.ts'
import { openConversation, type ConversationDeps } from './opening.ts'
import { peekState } from './state-cache.ts'
import { isEnded } from './status-table.ts'
import type { ConversationState } from './state.ts'
import type { Created } from './origins.ts'
import type { Catalogue } from '../storage/catalogue.ts'
import type { ConversationLog } from '../storage/log.ts'

export interface ServiceOptions {
  readonly catalogue: Catalogue
  readonly deps: ConversationDeps
  /** A conversation that nobody has used for this long is closed; its agent with it. */
  readonly idleTimeoutMs: number
  /** Whether the data folder is still this server's. Default: it is. */
  readonly isOwner?: () => boolean
}

interface Slot {
  readonly conversation: Promise<Conversation>
  /** The same, once it is open. */
  opened: Conversation | undefined
  lastUsed: number
}

/** How many conversations are looked at together when the server starts. */
const startConcurrency = 16

export class ConversationService {
  /** Conversations made by requests. */
  readonly creations = new Creations(this)
  readonly #options: ServiceOptions
  readonly #listing = new Listing()
  readonly #slots = new Map<string, Slot>()
  readonly #closedStates = new ClosedStates()
  /** Ids whose folder is being made, closed or removed. Whoever wants one waits in a loop that has no await behind its last check. */
  readonly #changing = new Map<string, Promise<unknown>>()
  #eviction: NodeJS.Timeout | undefined
  /** True once all conversations are listed: then the next server can be told. */
  #isComplete = false
  #closing: Promise<void> | undefined

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  /** Reads the list of conversations and repairs those that a killed server left running. */
  async start(): Promise<void> {
    const { catalogue } = this.#options
    const ids = this.#listing.adopt(await catalogue.listFile.take()) ?? (await catalogue.list())
    const started = await Promise.all(Array.from({ length: startConcurrency }, () => this.#startSome(ids)))
    this.creations.load(this.#listing.creations())
    this.#isComplete = !started.includes(false)
    this.#eviction = setInterval(() => this.#evictIdle(), Math.max(1000, this.#options.idleTimeoutMs / 4))
    this.#eviction.unref()
  }

  /** Whether there is a conversation with this id. */
  has(id: string): boolean {
    return this.#listing.has(id)
  }

  /** The open conversation. @throws AppError `not_found` */
  async open(id: string): Promise<Conversation> {
    while (this.#changing.has(id)) await this.#changing.get(id)?.catch(ignore)
    this.#assertServing()
    if (!this.#listing.has(id)) throw notFound(id)
    const slot = this.#slots.get(id) ?? this.#openSlot(id)
    slot.lastUsed = this.#now()
    return slot.conversation
  }

  /**
   * What `read` makes of the log of a conversation: at once, if that is open and `read` needs no time. One that is
   * deleted meanwhile is not found. @throws AppError `not_found`
   */
  read<T>(id: string, read: (log: ConversationLog) => T | Promise<T>): T | Promise<T> {
    const opened = this.#opened(id)
    const result = opened === undefined ? this.open(id).then(({ log }) => read(log)) : read(opened.log)
    return result instanceof Promise ? this.#unlessRemoved(id, result) : result
  }

  /** Makes a conversation, or gives the one that has this id already. */
  async create(created: Created): Promise<{ readonly conversation: Conversation; readonly isNew: boolean }> {
    const { id } = created
    const { catalogue, deps } = this.#options
    const conversation = await this.#change(id, async () => {
      if (this.#listing.has(id)) return undefined
      try {
        await deps.reserve.assertHeld()
        await catalogue.create(id, (directory) => writeCreated(directory, deps.cache, created))
        return await this.#adopt(id)
      } catch (thrown) {
        // What was settled for it (secrets to mask) would stay for ever: nothing is there that could be closed.
        deps.onClosed(id)
        throw thrown
      }
    })
    return conversation === undefined ? { conversation: await this.open(id), isNew: false } : { conversation, isNew: true }
  }

  /** A new conversation that begins with a copy of another one's history. @throws AppError `not_found`, `conflict` */
  async fork(sourceId: string, request: ForkRequest): Promise<Conversation> {
    const source = await this.open(sourceId)
    const { id } = request
    const { catalogue, deps } = this.#options
    const { from, forked } = await planFork(source, request, { directory: catalogue.pathOf(sourceId), now: this.#timestamp() })
    return this.#change(id, async () => {
      if (this.#listing.has(id)) throw new AppError('conflict', `A conversation with the id ${id} exists already`)
      await deps.reserve.assertHeld()
      await catalogue.create(id, (directory) => writeForked(directory, deps.cache, from, forked))
      return this.#adopt(id)
    })
  }

  /** Stops it if it runs, takes it out of sight and answers; its files go in the background. @throws AppError `not_found` */
  async remove(id: string): Promise<void> {
    await this.#change(id, async () => {
      if (!this.#listing.has(id)) throw notFound(id)
      const entry = this.#listing.delete(id)
      try {
        await this.#closeSlot(id, 'deleted')
        await this.#options.catalogue.remove(id)
      } catch (thrown) {
        // It is still there, and so it is shown.
        if (entry !== undefined) this.#listing.set(entry)
        throw thrown
      }
    })
  }

  /** ConversationInfo, without opening a conversation that is closed. @throws AppError `not_found` */
  async info(id: string, includeSkills: boolean): Promise<JsonObject> {
    while (this.#changing.has(id)) await this.#changing.get(id)?.catch(ignore)
    if (!this.#listing.has(id)) throw notFound(id)
    const state = await this.#stateOf(id)
    return conversationInfo(state, {
      includeSkills,
      persistenceDir: this.#options.catalogue.pathOf(id),
      subConversationIds: this.#listing.childrenOf(id),
    })
  }

  /** ConversationInfo as it was when the request that has made it was done with. @throws AppError `not_found` */
  firstInfo(creation: Creation, includeSkills: boolean, hasMessage: boolean): Promise<JsonObject> {
    return this.creations.info(creation, { includeSkills, hasMessage, persistenceDir: this.#options.catalogue.pathOf(creation.id) })
  }

  page(query: ListQuery): ReturnType<Listing['page']> {
    return this.#listing.page(query)
  }

  count(status?: Parameters<Listing['count']>[0]): number {
    return this.#listing.count(status)
  }

  /** Pauses what runs and closes everything. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearInterval(this.#eviction)
    await Promise.allSettled(this.#changing.values())
    await Promise.all([...this.#slots.keys()].map((id) => this.#closeSlot(id, 'closed')))
    const { catalogue, isOwner = () => true } = this.#options
    await catalogue.close()
    // Without it, the next server looks into every folder.
    if (this.#isComplete && isOwner()) await catalogue.listFile.leave(this.#listing.entries()).catch(ignore)
  }

  /** False when one of those that it took cannot be served. */
  async #startSome(ids: string[]): Promise<boolean> {
    let areAllListed = true
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      try {
        areAllListed = (await this.#startOne(id)) && areAllListed
      } catch (thrown) {
        areAllListed = false
        this.#options.deps.diagnostics.error('A conversation could not be read and is not served', { conversation_id: id, error: errorOf(thrown) })
      }
    }
    return areAllListed
  }

  /** One whose cache is up to date and which was not running needs no more than its cache. False for what is none. */
  async #startOne(id: string): Promise<boolean> {
    const directory = this.#options.catalogue.pathOf(id)
    const cached = await peekState(directory)
    if (cached !== undefined && cached.id === id && isEnded(cached.execution_status)) {
      this.#listing.set(entryOf(cached))
      return true
    }
    const conversation = await openConversation(this.#openOptions(directory))
    if (conversation.id === id) this.#listing.set(entryOf(conversation.state))
    await conversation.close()
    return conversation.id === id
  }

  async #stateOf(id: string): Promise<Readonly<ConversationState>> {
    const slot = this.#slots.get(id)
    if (slot !== undefined) return (await slot.conversation).state
    return (await this.#closedStates.read(id, this.#options.catalogue.pathOf(id))) ?? (await this.open(id)).state
  }

  /** The conversation, if it is open and nothing is happening to it. */
  #opened(id: string): Conversation | undefined {
    const slot = this.#slots.get(id)
    if (slot === undefined || this.#closing !== undefined || this.#changing.has(id) || !this.#listing.has(id)) return undefined
    slot.lastUsed = this.#now()
    return slot.opened
  }

  async #unlessRemoved<T>(id: string, result: Promise<T>): Promise<T> {
    try {
      return await result
    } catch (thrown) {
      this.#assertServing()
      if (!this.#listing.has(id)) throw notFound(id)
      throw thrown
    }
  }

  #openSlot(id: string): Slot {
    this.#closedStates.forget(id)
    const conversation = openConversation(this.#openOptions(this.#options.catalogue.pathOf(id)))
    const slot: Slot = { conversation, opened: undefined, lastUsed: this.#now() }
    this.#slots.set(id, slot)
    conversation.then((opened) => (slot.opened = opened), () => this.#slots.delete(id))
    return slot
  }

  /** Takes a folder that has just been made into service. */
  async #adopt(id: string): Promise<Conversation> {
    try {
      const conversation = await this.#openSlot(id).conversation
      this.#listing.set(entryOf(conversation.state))
      return conversation
    } catch (thrown) {
      // Whoever asked for it is told that it was not made.
      await this.#options.catalogue.remove(id).catch(ignore)
      throw thrown
    }
  }

  #openOptions(directory: string): Parameters<typeof openConversation>[0] {
    return { directory, deps: this.#options.deps, onChange: (state) => this.#changed(state) }
  }

  #changed(state: Readonly<ConversationState>): void {
    if (this.#listing.has(state.id)) this.#listing.set(entryOf(state))
    const slot = this.#slots.get(state.id)
    if (slot !== undefined) slot.lastUsed = this.#now()
  }

  /** Closes what nobody uses. */
  #evictIdle(): void {
    for (const [id, slot] of this.#slots) {
      if (this.#isIdle(slot)) this.#evict(id, slot).catch(ignore)
    }
  }

  #isIdle(slot: Slot): boolean {
    return slot.lastUsed < this.#now() - this.#options.idleTimeoutMs
  }

  async #evict(id: string, slot: Slot): Promise<void> {
    const conversation = await slot.conversation
    // It may have been asked for while it was opening.
    if (conversation.isBusy || this.#changing.has(id) || !this.#isIdle(slot)) return
    await this.#change(id, () => this.#closeSlot(id, 'closed'))
  }

  /** Closes the conversation if it is open. Never rejects: whatever can be closed of it is. */
  async #closeSlot(id: string, reason: 'closed' | 'deleted'): Promise<void> {
    const slot = this.#slots.get(id)
    this.#slots.delete(id)
    this.#closedStates.forget(id)
    const conversation = await slot?.conversation.catch(() => undefined)
    await conversation?.close(reason).catch((thrown: unknown) => {
      this.#options.deps.diagnostics.error('A conversation could not be closed in good order', { conversation_id: id, error: errorOf(thrown) })
    })
  }

  /** Runs a change of one id when no other is under way; nothing else happens to that id meanwhile. */
  async #change<T>(id: string, work: () => Promise<T>): Promise<T> {
    while (this.#changing.has(id)) await this.#changing.get(id)?.catch(ignore)
    this.#assertServing()
    const changing = work()
    this.#changing.set(id, changing)
    try {
      return await changing
    } finally {
      this.#changing.delete(id)
    }
  }

  #assertServing(): void {
    if (this.#closing !== undefined) throw new AppError('unavailable', 'The server is shutting down')
  }

  #now(): number {
    return this.#options.deps.clock()
  }

  #timestamp(): string {
    return formatMicros(Math.floor(this.#now() * 1000))
  }
}

function ignore(): void {}

function notFound(id: string): AppError {
  return new AppError('not_found', `Conversation not found: ${id}`)
}
