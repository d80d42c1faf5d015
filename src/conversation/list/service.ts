/**
 * All conversations of a server. Each has at most one `Conversation` object, which is made on first use.
 *
 * Changes of one id (create, fork, close, delete) run one after another, and opening waits for them. An idle
 * conversation is closed after a time.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { formatMicros } from '../../base/stamp.ts'
import { Changes } from './changes.ts'
import { ClosedStates } from './closed-states.ts'
import type { Conversation } from '../conversation.ts'
import { Creations, type Creation } from './creations.ts'
import { EventReader } from '../log/event-reader.ts'
import type { ForkRequest } from '../log/fork.ts'
import { conversationInfo } from '../log/info.ts'
import { notFound, entryOf, Listing, type ListQuery } from './listing.ts'
import type { ConversationFollower } from './followers.ts'
import { conversationsLoad, type ConversationsLoad } from './load.ts'
import { writeCreated, writeForked } from '../log/first-lines.ts'
import { openConversation, openConversationLog } from '../opening.ts'
import type { ServiceOptions } from './service-options.ts'
import type { ListEntry } from './sorted-entries.ts'
import { listStored } from './starting.ts'
import type { ConversationState } from '../log/state.ts'
import type { Created } from '../log/origins.ts'

interface Slot {
  readonly conversation: Promise<Conversation>
  /** The open conversation; undefined until it is open. */
  opened: Conversation | undefined
  lastUsed: number
}

export class ConversationService {
  /** Creates conversations, at most one for each idempotency key. */
  readonly creations = new Creations(this)
  readonly #options: ServiceOptions
  readonly #followers: ReadonlySet<ConversationFollower>
  readonly #listing = new Listing()
  readonly #slots = new Map<string, Slot>()
  readonly #closedStates = new ClosedStates()
  readonly #changes = new Changes()
  #eviction: NodeJS.Timeout | undefined
  /** True once every conversation is listed. An incomplete list is not written to the list file. */
  #isComplete = false
  #closing: Promise<void> | undefined

  constructor(options: ServiceOptions) {
    this.#options = options
    this.#followers = options.followers ?? new Set()
  }

  /** Reads the list of conversations, and ends the runs that a killed server left. */
  async start(): Promise<void> {
    const { catalogue } = this.#options
    const ids = this.#listing.adopt(await catalogue.listFile.take()) ?? (await catalogue.list())
    this.#isComplete = await listStored(ids, {
      listing: this.#listing,
      pathOf: (id) => catalogue.pathOf(id),
      open: (directory) => openConversation(this.#openOptions(directory)),
      diagnostics: this.#options.deps.diagnostics,
    })
    this.creations.load(this.#listing.creations())
    this.#eviction = setInterval(() => this.#evictIdle(), Math.max(1000, this.#options.idleTimeoutMs / 4))
    this.#eviction.unref()
  }

  /** The list entries of all conversations, in no order. A change of a conversation replaces its entry. */
  entries(): readonly ListEntry[] {
    return this.#listing.entries()
  }

  /** True while the conversation is in memory, or is being created, closed or deleted. */
  isOpen(id: string): boolean {
    return this.#slots.has(id) || this.#changes.has(id)
  }

  has(id: string): boolean {
    return this.#listing.has(id)
  }

  /** Opens the conversation if needed. @throws AppError `not_found`, `unavailable`; the errors of `openConversation` */
  async open(id: string): Promise<Conversation> {
    while (this.#changes.has(id)) await this.#changes.end(id)
    this.#assertServing()
    if (!this.#listing.has(id)) throw notFound(id)
    const slot = this.#slots.get(id) ?? this.#openSlot(id)
    slot.lastUsed = this.#now()
    return slot.conversation
  }

  /**
   * Calls `read` with the events of a conversation and returns its result. A closed conversation is opened. The result
   * is no promise if the conversation is open and `read` returns none.
   * @throws the errors of `open` and `read`
   */
  read<T>(id: string, read: (events: EventReader) => T | Promise<T>): T | Promise<T> {
    const opened = this.#opened(id)
    const result = opened === undefined ? this.open(id).then(({ events }) => read(events)) : read(opened.events)
    return result instanceof Promise ? this.#unlessRemoved(id, result) : result
  }

  /** Creates a conversation, or opens it if it exists. @throws as `open`, `Admission.create`, `Catalogue.create` */
  async create(created: Created): Promise<{ readonly conversation: Conversation; readonly isNew: boolean }> {
    const { id } = created
    const { catalogue, deps } = this.#options
    const conversation = await this.#change(id, async () => {
      if (this.#listing.has(id)) return undefined
      try {
        return await deps.admission.create(id, created.made_by, async () => {
          await deps.reserve.ensureHeld()
          await catalogue.create(id, (directory) => writeCreated(directory, deps.cache, created))
          return this.#adopt(id)
        })
      } catch (thrown) {
        // The new conversation is not open, so nothing else calls `onClosed` for its id.
        deps.onClosed(id)
        await this.#releaseWorktree(created.working_dir)
        throw thrown
      }
    })
    if (conversation !== undefined) return { conversation, isNew: true }
    await this.#releaseWorktree(created.working_dir)
    return { conversation: await this.open(id), isNew: false }
  }

  /** Forks the conversation `sourceId`. @throws AppError `not_found`, `conflict`; the errors of `create` */
  async fork(sourceId: string, request: ForkRequest): Promise<Conversation> {
    const source = await this.open(sourceId)
    const { catalogue, deps } = this.#options
    const { from, forked } = await source.planFork(request, formatMicros(Math.floor(this.#now() * 1000)))
    return this.#change(request.id, async () => {
      if (this.#listing.has(request.id)) throw taken(request.id)
      return deps.admission.create(request.id, request.madeBy, async () => {
        await deps.reserve.ensureHeld()
        await catalogue.create(request.id, (directory) => writeForked(directory, deps.cache, from, forked))
        return this.#adopt(request.id)
      })
    })
  }

  /**
   * Stops and removes a conversation. Returns the result of `releaseWorktree` for the conversation's working folder.
   * @param unused if given, the conversation is removed only if it is closed and still has this list entry
   * @throws AppError `conflict` (only with `unused`); the errors of `open`, `info` and `Catalogue.remove`
   */
  async remove(id: string, unused?: ListEntry): Promise<string | undefined> {
    const info = this.#followers.size === 0 ? undefined : await this.info(id, false)
    return this.#change(id, async () => {
      if (!this.#listing.has(id)) throw notFound(id)
      const isUsed = unused !== undefined && (this.#slots.has(id) || this.#listing.get(id) !== unused)
      if (isUsed) throw new AppError('conflict', 'The conversation is in use')
      const entry = this.#listing.delete(id)
      try {
        await this.#closeSlot(id, 'deleted')
        for (const follower of info === undefined ? [] : this.#followers) {
          await follower.removing(id, info ?? {}, this.#readClosed)
        }
        await this.#options.catalogue.remove(id)
      } catch (thrown) {
        // The conversation still exists, so list it again.
        if (entry !== undefined) this.#listing.set(entry)
        throw thrown
      }
      return entry && this.#releaseWorktree(entry.workingDir)
    })
  }

  /** True when a conversation works in the folder or in a folder inside it. */
  isUsed(folder: string): boolean {
    return this.#listing.isUsed(folder)
  }

  /** Returns the state. Opens a closed conversation whose state cache is not current. @throws the errors of `open` */
  async state(id: string): Promise<Readonly<ConversationState>> {
    while (this.#changes.has(id)) await this.#changes.end(id)
    if (!this.#listing.has(id)) throw notFound(id)
    const slot = this.#slots.get(id)
    if (slot !== undefined) return (await slot.conversation).state
    return (await this.#closedStates.read(id, this.#options.catalogue.pathOf(id))) ?? (await this.open(id)).state
  }

  /** Returns ConversationInfo. @throws the errors of `state` */
  async info(id: string, includeSkills: boolean): Promise<JsonObject> {
    return conversationInfo(await this.state(id), {
      includeSkills,
      persistenceDir: this.#options.catalogue.pathOf(id),
      subConversationIds: this.#listing.childrenOf(id),
    })
  }

  /** Returns ConversationInfo as it was right after `creation.request` took effect. @throws the errors of `read` */
  firstInfo(creation: Creation, includeSkills: boolean, hasMessage: boolean): Promise<JsonObject> {
    const persistenceDir = this.#options.catalogue.pathOf(creation.id)
    return this.creations.info(creation, { includeSkills, hasMessage, persistenceDir })
  }

  page(query: ListQuery): ReturnType<Listing['page']> {
    return this.#listing.page(query)
  }

  count(...query: Parameters<Listing['count']>): number {
    return this.#listing.count(...query)
  }

  /** True when the conversation or one of its 19 nearest ancestors has the tag. */
  readonly hasTag = (id: string, tag: { readonly name: string; readonly value: string }): boolean =>
    this.#listing.hasTag(id, tag.name, tag.value)

  load(): ConversationsLoad {
    return conversationsLoad(this.#listing.entries(), this.opened())
  }

  opened(): readonly Conversation[] {
    return [...this.#slots.values()].flatMap(({ opened }) => opened ?? [])
  }

  /** Pauses all runs and closes all conversations. Later calls return the first promise. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearInterval(this.#eviction)
    await this.#changes.ended()
    await Promise.all([...this.#slots.keys()].map((id) => this.#closeSlot(id, 'closed')))
    const { catalogue, isOwner = () => true } = this.#options
    if (isOwner()) await Promise.all([...this.#followers].map((follower) => follower.closing(this.#readClosed)))
    await catalogue.close()
    // With the list file, the next start of the server need not read every folder.
    if (this.#isComplete && isOwner()) await catalogue.listFile.leave(this.#listing.entries()).catch(ignore)
  }

  /** Returns the conversation if it is open, unless it is being changed or the server is closing. */
  #opened(id: string): Conversation | undefined {
    const slot = this.#slots.get(id)
    if (slot === undefined || this.#closing !== undefined) return undefined
    if (this.#changes.has(id) || !this.#listing.has(id)) return undefined
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
    conversation.then((opened) => (slot.opened = opened), () => this.#slots.delete(id)) // The caller gets the error.
    return slot
  }

  /** Opens a conversation whose folder was just created, and adds it to the listing. */
  async #adopt(id: string): Promise<Conversation> {
    try {
      const conversation = await this.#openSlot(id).conversation
      this.#listing.set(entryOf(conversation.state))
      for (const follower of this.#followers) follower.changed(id)
      return conversation
    } catch (thrown) {
      // The request fails, so remove the folder.
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
    for (const follower of this.#followers) follower.changed(state.id)
  }

  /** Calls `read` with the events of a conversation that is not open, and returns its result. */
  readonly #readClosed = async <T>(id: string, read: (events: EventReader) => T | Promise<T>): Promise<T> => {
    const { catalogue, deps } = this.#options
    const log = await openConversationLog(catalogue.pathOf(id), deps)
    try {
      return await read(new EventReader(log))
    } finally {
      await log.close()
    }
  }

  #evictIdle(): void {
    for (const [id, slot] of this.#slots) {
      if (this.#isIdle(slot)) this.#evict(id, slot).catch(ignore) // The opening failed, or the server is closing.
    }
  }

  #isIdle(slot: Slot): boolean {
    return slot.lastUsed < this.#now() - this.#options.idleTimeoutMs
  }

  async #evict(id: string, slot: Slot): Promise<void> {
    const conversation = await slot.conversation
    // A request may have begun to use the conversation while it opened. The conversation then stays open.
    if (conversation.isBusy || this.#changes.has(id) || !this.#isIdle(slot)) return
    await this.#change(id, () => this.#closeSlot(id, 'closed'))
  }

  /** Closes the conversation if it is open. Never rejects: a failure is logged. */
  async #closeSlot(id: string, reason: 'closed' | 'deleted'): Promise<void> {
    const slot = this.#slots.get(id)
    this.#slots.delete(id)
    this.#closedStates.forget(id)
    const conversation = await slot?.conversation.catch(() => undefined) // Undefined if the opening failed.
    await conversation?.close(reason).catch((thrown: unknown) => {
      const about = { conversation_id: id, error: errorOf(thrown) }
      this.#options.deps.diagnostics.error('A conversation could not be closed in good order', about)
    })
  }

  async #change<T>(id: string, work: () => Promise<T>): Promise<T> {
    while (this.#changes.has(id)) await this.#changes.end(id)
    this.#assertServing()
    return this.#changes.run(id, work)
  }

  readonly #releaseWorktree = async (folder: string): Promise<string | undefined> =>
    this.#options.releaseWorktree?.(folder, (used) => this.isUsed(used))

  #assertServing(): void {
    if (this.#closing !== undefined) throw new AppError('unavailable', 'The server is shutting down')
  }

  #now(): number {
    return this.#options.deps.clock()
  }
}

function ignore(): void {}
const taken = (id: string): AppError => new AppError('conflict', `A conversation with the id ${id} exists already`)
