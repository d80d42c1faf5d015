/**
 * The deliveries of one conversation to one webhook, one request at a time.
 *
 * The stored position has the sequence number (seq) of the next event to deliver. Events are read from the log. Changes
 * of the state (status, title, tags, budget) are found by a comparison of its version (`versionOf`) with the version
 * that was delivered last. So a slow receiver gets only the newest state.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import { memberAt } from '../../base/fields.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/stamp.ts'
import { Limiter } from '../../base/limiter.ts'
import { idOf, type EventReader } from '../../conversation/log/event-reader.ts'
import type { Message, Outcome } from './delivery.ts'
import type { Position } from './journal.ts'
import type { WebhookSettings } from './settings.ts'
import { shortDigest } from './signature.ts'

/** The events of one conversation, from its log or from the copy of a deleted conversation. */
export type Backlog = Pick<EventReader, 'eventCount' | 'bytesFrom' | 'readRange'>

/** A ConversationInfo in the form in which clients get it. */
export type Info = Readonly<Record<string, unknown>>

/** A delivery that was given up, or events that were dropped. */
export interface Lost {
  /** The sequence numbers of the lost events (`end` excluded); undefined for a lost change of the conversation. */
  readonly range: readonly [first: number, end: number] | undefined
  readonly reason: string
  readonly status: number | undefined
  readonly attempts: number
}

/** The members of a webhook that a lane (the deliveries of one conversation) uses. */
export interface LaneHost {
  readonly settings: WebhookSettings
  readonly log: Log
  readonly clock: Clock
  /** Limits the number of conversations that the webhook serves at the same time. */
  readonly limiter: Limiter
  /** True when the server closes. All waiting events are then due, and a request is tried once only. */
  readonly isClosing: () => boolean
  /** True for a deleted conversation that still has something to deliver. */
  readonly isRemoved: (id: string) => boolean
  readonly createId: () => string
  /** Calls `use` with the events of a conversation. @throws AppError `not_found`, `unavailable` */
  readonly read: <T>(id: string, use: (events: Backlog) => T | Promise<T>) => Promise<T>
  /** Returns the ConversationInfo of a conversation. @throws AppError `not_found` */
  readonly info: (id: string) => Promise<Info>
  /** Returns how far the conversation was delivered to the webhook. */
  readonly positionOf: (id: string, info: Info) => Promise<Position>
  /** Records how far the conversation was delivered to the webhook. */
  readonly advance: (id: string, position: Position) => Promise<void>
  /** Stores a dead letter of a lost delivery. */
  readonly bury: (id: string, lost: Lost) => Promise<void>
  readonly deliver: (message: Message) => Promise<Outcome>
  /** Called when a deleted conversation has nothing left to deliver. */
  readonly finished: (id: string) => Promise<void>
  /** Called each time that the lane has nothing left to do. */
  readonly idle: (lane: Lane) => void
}

export class Lane {
  readonly id: string
  /** The time when a request was last delivered or given up; at first, the time when the lane was made. */
  since: number
  readonly #host: LaneHost
  /** Runs one task at a time: a pass (`#pass`), or a task that was given to `run`. */
  readonly #limiter = new Limiter(1)
  #users = 0
  #isWoken = false
  #isDue = false
  /** True when the last call of `#pass` was stopped or failed. A missing conversation is no failure. */
  #isBehind = false
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined

  constructor(id: string, host: LaneHost) {
    this.id = id
    this.#host = host
    this.since = host.clock()
  }

  get isIdle(): boolean {
    const isWorking = this.#users > 0 || this.#working !== undefined
    return !isWorking && this.#timer === undefined && !this.#isWoken && !this.#isBehind
  }

  /** Starts deliveries in the background, now or after the current deliveries. With `isDue`, events are due at once. */
  wake(isDue = false): void {
    this.#isWoken = true
    this.#isDue ||= isDue
    this.#working ??= this.#work()
  }

  /** Tries to deliver all waiting events. Resolves after that, whether or not the receiver has accepted them. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#working
    this.wake(true)
    await this.#working
  }

  /** Runs a task, such as a redelivery. Until the task has settled, no pass and no other task of this lane runs. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    this.#users++
    try {
      return await this.#limiter.run(task)
    } finally {
      this.#users--
      if (this.isIdle) this.#host.idle(this)
    }
  }

  /** Clears the timer of `flushDelayMs`. A delivery that has begun continues. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #work(): Promise<void> {
    for (let goesOn = true; goesOn && this.#isWoken;) {
      this.#isWoken = false
      try {
        goesOn = await this.#host.limiter.run(() => this.#limiter.run(() => this.#pass()))
        this.#isBehind = !goesOn
      } catch (thrown) {
        this.#failed(thrown)
      }
    }
    this.#working = undefined
    if (this.isIdle) this.#host.idle(this)
  }

  /**
   * Handles the error of a pass. A conversation that no longer exists is given up. After any other error, the next
   * `wake` tries again.
   */
  #failed(thrown: unknown): void {
    const code = thrown instanceof AppError ? thrown.code : undefined
    this.#isBehind = code !== 'not_found'
    if (code === 'not_found' || code === 'unavailable') return
    const about = { conversation_id: this.id, error: errorOf(thrown) }
    this.#host.log.warn('A conversation could not be delivered to a webhook', about)
  }

  /**
   * Delivers the changed state and the events that are due. Returns false if the closing server stops a delivery.
   */
  async #pass(): Promise<boolean> {
    const host = this.#host
    const isRemoved = host.isRemoved(this.id)
    const info = await host.info(this.id)
    const position = await host.positionOf(this.id, info)
    const told = isRemoved ? position : await this.#tell(info, position)
    const sent = told === undefined ? undefined : await this.#sendDue(told)
    if (sent === undefined || !isRemoved) return sent !== undefined
    if ((await this.#tell(info, sent)) === undefined) return false
    await host.finished(this.id)
    // Another pass follows, because a new conversation with the same id may have been made meanwhile.
    this.#isWoken = true
    return true
  }

  /**
   * Delivers the state of the conversation if it has changed. Returns the position after this delivery; undefined if
   * the closing server stops the delivery.
   */
  async #tell(info: Info, position: Position): Promise<Position | undefined> {
    const version = versionOf(info)
    if (position.told === version) return position
    const body = [Buffer.from(JSON.stringify(info))]
    const outcome = await this.#host.deliver({ id: this.#host.createId(), path: 'conversations', body })
    return this.#settle(outcome, { ...position, told: version }, undefined)
  }

  /** Delivers waiting events if they are due. Returns the position after them; undefined if a delivery was stopped. */
  async #sendDue(position: Position): Promise<Position | undefined> {
    const plan = await this.#host.read(this.id, (events) => this.#plan(events, position.seq))
    if (plan.end <= position.seq) return position
    if (!plan.isDue) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        this.wake(true)
      }, this.#host.settings.flushDelayMs)
      return position
    }
    this.#isDue = false
    this.close()
    let reached: Position | undefined = await this.#drop(position, plan.from)
    while (reached !== undefined && reached.seq < plan.end) reached = await this.#sendBatch(reached, plan.end)
    return reached
  }

  #plan(events: Backlog, seq: number): { readonly from: number; readonly end: number; readonly isDue: boolean } {
    const { settings, isClosing, isRemoved } = this.#host
    const end = events.eventCount
    const isFull = end - seq >= settings.bufferSize || events.bytesFrom(seq) >= settings.batchLimitBytes
    const isDue = this.#isDue || isFull || isClosing() || isRemoved(this.id)
    return { from: firstKept(events, seq, settings), end, isDue }
  }

  /**
   * Gives up the waiting events before sequence number `from`, which exceed the limits of the queue: one dead letter
   * stands for them. Returns the position after them, or `position` if there are no such events.
   */
  async #drop(position: Position, from: number): Promise<Position> {
    if (from <= position.seq) return position
    const reason = 'The queue was full'
    await this.#host.bury(this.id, { range: [position.seq, from], reason, status: undefined, attempts: 0 })
    const next = { ...position, seq: from }
    await this.#host.advance(this.id, next)
    return next
  }

  async #sendBatch(position: Position, end: number): Promise<Position | undefined> {
    const { read, settings, deliver } = this.#host
    const { seq } = position
    const { events, next } = await read(this.id, (log) => log.readRange(seq, end, settings.batchLimitBytes))
    const newest = events.at(-1)?.json
    const reached = { ...position, seq: next, last: newest === undefined ? position.last : idOf(newest) }
    // If all events of the batch are damaged, nothing is sent, and the position moves past them.
    if (newest === undefined) return this.#settle({ kind: 'delivered' }, reached, undefined)
    return this.#settle(await deliver(batchMessage(this.id, [seq, next], events)), reached, [seq, next])
  }

  async #settle(outcome: Outcome, reached: Position, range: Lost['range']): Promise<Position | undefined> {
    if (outcome.kind === 'stopped') return undefined
    if (outcome.kind === 'failed') await this.#host.bury(this.id, { ...outcome, range })
    await this.#host.advance(this.id, reached)
    this.since = this.#host.clock()
    return reached
  }
}

/** Returns the message with `events` of the conversation `id`. Its id depends only on `id`, `first` and `end`. */
export function batchMessage(
  id: string, [first, end]: readonly [number, number], events: readonly { readonly json: Buffer }[],
): Message {
  const body = events.flatMap(({ json }, place) => [place === 0 ? opening : comma, json])
  const hex = id.replaceAll('-', '')
  return { id: `${hex}-${first}-${end}`, path: `events/${hex}`, body: [...body, closing] }
}

const opening = Buffer.from('[')
const comma = Buffer.from(',')
const closing = Buffer.from(']')

/** Returns a digest of the status, title, tags and budget in `info`. A lane delivers `info` when the digest changes. */
export function versionOf(info: Info): string {
  const { execution_status: status, title, tags } = info
  return shortDigest(JSON.stringify([status, title, tags, memberAt(info, 'metrics', 'max_budget_per_task') ?? null]))
}

/** Returns the seq of the oldest waiting event that is within the limits of the queue. The newest event always fits. */
export function firstKept(events: Backlog, seq: number, { queueLimit, queueLimitBytes }: WebhookSettings): number {
  const end = events.eventCount
  let from = Math.max(seq, end - queueLimit)
  while (from < end - 1 && events.bytesFrom(from) > queueLimitBytes) from++
  return from
}
