/**
 * One webhook: the deliveries of all conversations to the webhook, its dead letters, its start and its end.
 *
 * A lane (lane.ts) delivers one conversation in the background. Delivery is at least once: the stored position moves
 * past an event after the receiver has accepted the event, or after a dead letter for it is stored.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import { formatMicros, microsOfUpperHalf, parseMicros, upperHalf, type Clock } from '../../base/stamp.ts'
import { Limiter } from '../../base/limiter.ts'
import { within } from '../../base/wait.ts'
import type { ConversationFollower, ReadEvents } from '../../conversation/list/followers.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import { letterLimit, type DeadLetter } from './dead-letters.ts'
import type { Delivery, Message, Outcome } from './delivery.ts'
import type { WebhookLoad } from './figures.ts'
import type { Journal, Position } from './journal.ts'
import { batchMessage, firstKept, Lane, versionOf, type Backlog, type Info, type Lost } from './lane.ts'
import type { RemainsFolder } from './remains.ts'
import type { WebhookSettings } from './settings.ts'

export interface WebhookOptions {
  /** The id of the webhook: 16 hex digits, with which the names of its files begin. */
  readonly key: string
  readonly settings: WebhookSettings
  readonly journal: Journal
  readonly remains: RemainsFolder
  readonly delivery: Delivery
  readonly conversations: Pick<StoredConversations, 'ids' | 'info' | 'read'>
  readonly clock: Clock
  readonly createId: () => string
  readonly log: Log
}

/** The most conversations that one webhook serves at the same time. */
const lanesAtOnce = 8
/** The time limit, in milliseconds, of the last deliveries when the server closes. */
const closeLimitMs = 3000

export class Webhook implements ConversationFollower {
  readonly key: string
  readonly #options: WebhookOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #limiter = new Limiter(lanesAtOnce)
  /** The ids of deleted conversations that still have something to deliver. */
  readonly #removed = new Set<string>()
  /** Ends the waits between attempts. Aborted when the server closes. */
  readonly #patience = new AbortController()
  /** Ends all requests. Aborted by `close`, and by `closing` when the last deliveries take more than `closeLimitMs`. */
  readonly #stop = new AbortController()
  #readClosed: ReadEvents | undefined
  #isStarted = false
  #isClosing = false
  #delivered = 0
  /** The number of requests whose attempts have all failed, redeliveries of dead letters included. */
  #failed = 0
  #droppedLetters = 0
  #lastFailure: { readonly reason: string; readonly at: string } | null = null

  constructor(options: WebhookOptions) {
    this.key = options.key
    this.#options = options
  }

  /**
   * Returns the view for clients. It has only the origin of the address, because a path or a query may contain a key.
   */
  get view(): JsonObject {
    const { settings: { baseUrl, secret }, journal } = this.#options
    return {
      id: this.key,
      origin: baseUrl.origin,
      is_signed: secret !== undefined,
      waiting_conversations: this.#lanes.size,
      delivered_requests: this.#delivered,
      dead_letters: journal.letters.length,
      last_failure: this.#lastFailure,
    }
  }

  get load(): WebhookLoad {
    const now = this.#options.clock()
    return {
      waitingConversations: this.#lanes.size,
      waitingLanes: this.#limiter.waiting,
      longestWaitMs: Math.max(0, ...[...this.#lanes.values()].map(({ since }) => now - since)),
      delivered: this.#delivered,
      failed: this.#failed,
      letters: this.#options.journal.letterCount,
      droppedLetters: this.#droppedLetters,
    }
  }

  get letters(): readonly DeadLetter[] {
    return this.#options.journal.letters
  }

  letter(id: string): DeadLetter | undefined {
    return this.#options.journal.letter(id)
  }

  started(): void {
    this.#isStarted = true
    this.#recover().catch((thrown: unknown) => {
      this.#options.log.error('A webhook could not look for undelivered events', { error: errorOf(thrown) })
    })
  }

  changed(id: string): void {
    if (this.#isStarted && !this.#stop.signal.aborted) this.#laneOf(id).wake()
  }

  async removing(id: string, info: JsonObject, read: ReadEvents): Promise<void> {
    const { remains, settings, log, journal } = this.#options
    try {
      const position = await this.#positionOf(id, info, read)
      const { first, events } = await read(id, async (all) => {
        const first = firstKept(all, position.seq, settings)
        const range = all.readRange(first, all.eventCount, settings.queueLimitBytes)
        return { first, events: first < all.eventCount ? (await range).events : [] }
      })
      const last = { ...info, execution_status: 'deleting' }
      await remains.write(id, { info: last, first, events: events.map(({ json }) => json) })
      await journal.settle(id, journal.position(id) ?? position)
      this.#removed.add(id)
      this.#laneOf(id).wake(true)
    } catch (thrown) {
      const about = { conversation_id: id, error: errorOf(thrown) }
      log.error('The last events of a removed conversation could not be kept for a webhook', about)
    }
  }

  async closing(read: ReadEvents): Promise<void> {
    this.#readClosed = read
    this.#isClosing = true
    this.#patience.abort()
    const flushed = Promise.all([...this.#lanes.values()].map((lane) => lane.flush()))
    if ((await within(flushed, closeLimitMs)) === 'late') this.#stop.abort()
    await flushed
  }

  /**
   * Delivers a dead letter again, with one attempt for each request, and removes it.
   * @throws AppError `not_found` when its events were deleted, `upstream_failed` when the receiver does not accept a
   * request, `unavailable` when the server closes; the errors of `removeLetter`
   */
  async redeliver(letter: DeadLetter): Promise<void> {
    await this.#laneOf(letter.conversation_id).run(() => this.#redeliver(letter))
  }

  /**
   * Removes a dead letter. If its conversation was deleted, also removes the copy of the conversation, unless a
   * delivery or another letter needs the copy.
   * @throws AppError or a system error
   */
  async removeLetter({ id, conversation_id }: DeadLetter): Promise<void> {
    await this.#options.journal.removeLetter(id)
    if (!this.#removed.has(conversation_id)) await this.#dropRemains(conversation_id)
  }

  /** Ends all requests, and waits for the last write to the file. Idempotent. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#patience.abort()
    this.#stop.abort()
    for (const lane of this.#lanes.values()) lane.close()
    await this.#options.journal.close()
  }

  /** Starts the deliveries that were not made before the restart. Removes unneeded copies of deleted conversations. */
  async #recover(): Promise<void> {
    const { conversations, remains, journal } = this.#options
    const known = new Set(conversations.ids())
    for (const id of await remains.list()) {
      // A conversation that exists needs no copy. A deleted conversation without a position has nothing to deliver.
      const isOver = known.has(id) || journal.position(id) === undefined
      if (known.has(id)) await remains.remove(id)
      else if (isOver) await this.#dropRemains(id)
      else this.#wakeRemoved(id)
    }
    for (const id of known) {
      if (this.#isClosing) return
      await this.#recoverOne(id).catch(ignore) // An unreadable conversation cannot be sent.
    }
  }

  #wakeRemoved(id: string): void {
    this.#removed.add(id)
    this.#laneOf(id).wake(true)
  }

  async #recoverOne(id: string): Promise<void> {
    const { conversations, journal } = this.#options
    const info = await conversations.info(id)
    const position = journal.position(id)
    const isBehind = position === undefined
      ? Math.max(microsAt(info['updated_at']), microsOfId(info['leaf_event_id'])) >= journal.since
      : position.told !== versionOf(info) || position.last !== info['leaf_event_id']
    if (isBehind) this.#laneOf(id).wake(true)
  }

  #laneOf(id: string): Lane {
    const known = this.#lanes.get(id)
    if (known !== undefined) return known
    const { settings, log, clock, createId, journal } = this.#options
    const lane = new Lane(id, {
      settings, log, clock, createId,
      limiter: this.#limiter,
      isClosing: () => this.#isClosing,
      isRemoved: (one) => this.#removed.has(one),
      read: (one, use) => this.#read(one, use),
      info: (one) => this.#info(one),
      positionOf: (one, info) => this.#positionOf(one, info, this.#readEvents),
      advance: (one, position) => journal.advance(one, position),
      bury: (one, lost) => this.#bury(one, lost),
      deliver: (message) => this.#deliver(message),
      finished: (one) => this.#finished(one),
      idle: (one) => this.#lanes.delete(one.id),
    })
    this.#lanes.set(id, lane)
    return lane
  }

  get #readEvents(): ReadEvents {
    return this.#readClosed ?? this.#options.conversations.read
  }

  async #read<T>(id: string, use: (events: Backlog) => T | Promise<T>): Promise<T> {
    const copy = this.#removed.has(id) ? await this.#options.remains.read(id) : undefined
    return copy === undefined ? this.#readEvents(id, use) : use(copy.events)
  }

  async #info(id: string): Promise<Info> {
    const copy = this.#removed.has(id) ? await this.#options.remains.read(id) : undefined
    return copy?.info ?? this.#options.conversations.info(id)
  }

  /**
   * Returns the stored position. If there is none, returns the position of the first event that is not older than
   * the webhook's file (`Journal.since`) and the conversation. A fork has events that are older than the fork.
   */
  async #positionOf(id: string, info: Info, read: ReadEvents): Promise<Position> {
    const { journal } = this.#options
    const known = journal.position(id)
    if (known !== undefined) return known
    const since = Math.max(journal.since, microsAt(info['created_at']))
    const seq = await read(id, (events) => events.firstAtOrAfter(since))
    return { seq, last: undefined, told: undefined }
  }

  async #deliver(message: Message): Promise<Outcome> {
    const { delivery, settings, log } = this.#options
    const retries = this.#isClosing ? 0 : settings.retries
    const outcome = await delivery.deliver(message, retries, this.#patience.signal, this.#stop.signal)
    if (outcome.kind === 'delivered') this.#delivered++
    if (outcome.kind !== 'failed') return outcome
    this.#failed++
    this.#lastFailure = { reason: outcome.reason, at: this.#now() }
    log.warn('A webhook could not be delivered', { reason: outcome.reason, attempts: outcome.attempts })
    return this.#isClosing ? { kind: 'stopped' } : outcome
  }

  async #bury(id: string, { range, reason, status, attempts }: Lost): Promise<void> {
    const { journal, createId, log } = this.#options
    const [oldest] = journal.letters
    if (journal.letters.length >= letterLimit && oldest !== undefined) {
      log.error('The oldest dead letter of a webhook was dropped', { conversation_id: oldest.conversation_id })
      await this.removeLetter(oldest)
      this.#droppedLetters++
    }
    await journal.addLetter({
      id: createId(),
      conversation_id: id,
      first_event: range?.[0] ?? null,
      end_event: range?.[1] ?? null,
      reason, attempts,
      status: status ?? null,
      failed_at: this.#now(),
    })
  }

  async #finished(id: string): Promise<void> {
    this.#removed.delete(id)
    await this.#options.journal.forget(id)
    await this.#dropRemains(id)
  }

  /** Removes the copy of a deleted conversation, unless a dead letter needs it. */
  async #dropRemains(id: string): Promise<void> {
    const isNeeded = this.letters.some((letter) => letter.conversation_id === id)
    if (!isNeeded) await this.#options.remains.remove(id)
  }

  async #redeliver(letter: DeadLetter): Promise<void> {
    const { remains, journal, createId } = this.#options
    const { conversation_id: id, first_event: first, end_event: end } = letter
    const copy = await remains.read(id)
    if (first === null || end === null) {
      const info = copy?.info ?? (await this.#info(id))
      await this.#once({ id: createId(), path: 'conversations', body: [Buffer.from(JSON.stringify(info))] })
      return this.removeLetter(letter)
    }
    for (let seq = first; seq < end;) {
      const limit = this.#options.settings.batchLimitBytes
      const { events, next } = await (copy === undefined
        ? this.#readEvents(id, (log) => log.readRange(seq, end, limit))
        : copy.events.readRange(seq, end, limit))
      if (events.length > 0) await this.#once(batchMessage(id, [seq, next], events))
      seq = next
      if (seq < end) await journal.addLetter({ ...letter, first_event: seq })
    }
    await this.removeLetter(letter)
  }

  async #once(message: Message): Promise<void> {
    const outcome = await this.#options.delivery.deliver(message, 0, this.#patience.signal, this.#stop.signal)
    if (outcome.kind === 'failed') {
      this.#failed++
      throw new AppError('upstream_failed', outcome.reason)
    }
    if (outcome.kind === 'stopped') throw new AppError('unavailable', 'The server is shutting down')
    this.#delivered++
  }

  #now(): string {
    return formatMicros(Math.floor(this.#options.clock() * 1000))
  }
}

function microsAt(value: unknown): number {
  return typeof value === 'string' ? (parseMicros(value) ?? 0) : 0
}

/** Returns the time in an event's id, in microseconds since the epoch; 0 for any other value. */
function microsOfId(id: unknown): number {
  const upper = typeof id === 'string' ? upperHalf(id) : undefined
  return upper === undefined ? 0 : microsOfUpperHalf(upper)
}

function ignore(): void {}
